import { plainText } from '../fmt/print.ts';
import { goQuoted } from '../fmt/quote.ts';
import type { BranchNode, NodeList, StatementNode, TemplateNode } from '../syntax/nodes.ts';
import { GoMap, GoSlice, Int, intOf, isTrue, type Value } from '../value/value.ts';
import { evalPipeline } from './evaluate.ts';
import { execFault, openState, popVariables, type State, setVariable } from './state.ts';

/** How a list ended: by itself, or by `break` or `continue` of the range around it. */
type Ending = undefined | 'break' | 'continue';

/** Executes a list of nodes, and writes what they give. */
export function walkList(state: State, dot: Value, list: NodeList): Ending {
  for (const node of list.nodes) {
    const ending = walk(state, dot, node);
    if (ending !== undefined) return ending;
  }
  return undefined;
}

export function writeOut(state: State, text: string): void {
  state.world.run.budget.write(text.length);
  state.out.text += text;
}

function walk(state: State, dot: Value, node: StatementNode): Ending {
  state.node = node;
  switch (node.kind) {
    case 'text':
      writeOut(state, node.text);
      return undefined;
    case 'action': {
      const value = evalPipeline(state, dot, node.pipe);
      if (node.pipe.variables.length === 0) printValue(state, value);
      return undefined;
    }
    case 'if':
    case 'with':
      return walkBranch(state, dot, node);
    case 'range':
      return walkRange(state, dot, node);
    case 'template':
      walkTemplate(state, dot, node);
      return undefined;
    default:
      return node.kind;
  }
}

function printValue(state: State, value: Value): void {
  if (typeof value === 'string') writeOut(state, value);
  else if (value === undefined) writeOut(state, '<no value>');
  else writeOut(state, plainText(value, state.world.run.budget));
}

function walkWithDot(state: State, dot: Value, isElement: boolean, list: NodeList): Ending {
  const before = state.isDotElement;
  state.isDotElement = isElement;
  const ending = walkList(state, dot, list);
  state.isDotElement = before;
  return ending;
}

function walkBranch(state: State, dot: Value, node: BranchNode): Ending {
  const seen = state.names.length;
  const value = evalPipeline(state, dot, node.pipe);
  let ending: Ending;
  if (isTrue(value)) {
    ending = node.kind === 'with' ? walkWithDot(state, value, false, node.list) : walkList(state, dot, node.list);
  } else if (node.otherwise) {
    ending = walkList(state, dot, node.otherwise);
  }
  popVariables(state, seen);
  return ending;
}

function walkTemplate(state: State, dot: Value, node: TemplateNode): void {
  const { world } = state;
  const definition = world.definitions.get(node.name);
  if (definition === undefined) throw execFault(state, `template ${goQuoted(node.name)} not defined`);
  const { depth } = world.run.budget.limits;
  if (state.depth >= depth) throw execFault(state, `exceeded maximum template depth (${depth})`);
  const value = node.pipe ? evalPipeline(state, dot, node.pipe) : undefined;
  const inner = openState(world, definition, state.out, value, state.depth + 1);
  walkList(inner, value, definition.root);
}

/** One turn of a range: sets its variables, walks its list; true where the range goes on. */
function turn(state: State, node: BranchNode, mark: number, index: Value, element: Value, isElement: boolean): boolean {
  const { variables, isAssignment } = node.pipe;
  if (isAssignment) {
    const [first, second] = variables;
    if (first) setVariable(state, first.name, second ? index : element, isElement && !second);
    if (second) setVariable(state, second.name, element, isElement);
  } else if (variables.length > 0) {
    state.values[mark - 1] = element;
    state.elements[mark - 1] = isElement;
    if (variables.length > 1) state.values[mark - 2] = index;
  }
  state.world.run.budget.step();
  const ending = walkWithDot(state, element, isElement, node.list);
  popVariables(state, mark);
  return ending !== 'break';
}

function overInteger(state: State, node: BranchNode, mark: number, count: number | Int): boolean {
  if (node.pipe.variables.length > 1) {
    throw execFault(
      state,
      `can't use ${plainText(count, state.world.run.budget)} to iterate over more than one variable`,
    );
  }
  const most = typeof count === 'number' ? BigInt(count) : count.value;
  const type = typeof count === 'number' ? 'int' : count.type;
  for (let n = 0n; n < most; n++) {
    if (!turn(state, node, mark, undefined, intOf(type, n), false)) break;
  }
  return most > 0n;
}

function overSlice(state: State, node: BranchNode, mark: number, slice: GoSlice): boolean {
  const isElement = slice.element === 'interface {}';
  const { length } = slice.items;
  for (let n = 0; n < length; n++) {
    if (!turn(state, node, mark, n, slice.items[n], isElement)) break;
  }
  return length > 0;
}

function overMap(state: State, node: BranchNode, mark: number, map: GoMap): boolean {
  const isElement = map.element === 'interface {}';
  // Keys and values are those of the beginning, whatever the list does to the map.
  const entries = map.sortedKeys().map((key) => [key, map.entries.get(key)] as const);
  for (const [key, value] of entries) {
    if (!turn(state, node, mark, key, value, isElement)) break;
  }
  return entries.length > 0;
}

/** Whether there was anything to walk over. */
function over(state: State, node: BranchNode, mark: number, value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'number' || value instanceof Int) return overInteger(state, node, mark, value);
  if (value instanceof GoSlice) return overSlice(state, node, mark, value);
  if (value instanceof GoMap) return overMap(state, node, mark, value);
  throw execFault(state, `range can't iterate over ${plainText(value, state.world.run.budget)}`);
}

function walkRange(state: State, dot: Value, node: BranchNode): Ending {
  const seen = state.names.length;
  const value = evalPipeline(state, dot, node.pipe);
  const mark = state.names.length;
  const hadAny = over(state, node, mark, value);
  const ending = !hadAny && node.otherwise ? walkList(state, dot, node.otherwise) : undefined;
  popVariables(state, seen);
  // Go lets a break in the else of a range end that range alone; a continue goes on with the range around it.
  return ending === 'continue' ? ending : undefined;
}
