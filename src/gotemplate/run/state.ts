import { Fault } from '#core/fault.ts';
import { goQuoted } from '../fmt/quote.ts';
import type { TemplateRun } from '../functions/function.ts';
import { nodeText } from '../syntax/node-text.ts';
import type { Node, TemplateDefinition } from '../syntax/nodes.ts';
import { placeOf } from '../syntax/token-reader.ts';
import type { Value } from '../value/value.ts';

/** What a key that its map does not have gives: nothing, the zero value of the map's elements, or a fault. */
export type MissingKey = 'default' | 'zero' | 'error';

/** All that one rendering shares. */
export interface Rendering {
  readonly definitions: ReadonlyMap<string, TemplateDefinition>;
  readonly missingKey: MissingKey;
  readonly run: TemplateRun;
}

/** One template while it is executed. */
export interface State {
  readonly world: Rendering;
  readonly definition: TemplateDefinition;
  readonly out: { text: string };
  readonly depth: number;
  /** The node that faults name. */
  node: Node;
  /** The variables in scope, the innermost last. */
  readonly names: string[];
  readonly values: Value[];
  /** Whether a variable holds an element of a map or list: Go's messages then name the type interface {}. */
  readonly elements: boolean[];
  isDotElement: boolean;
}

export function openState(
  world: Rendering,
  definition: TemplateDefinition,
  out: State['out'],
  dot: Value,
  depth: number,
): State {
  const { root } = definition;
  const variables = { names: ['$'], values: [dot], elements: [false] };
  return { world, definition, out, depth, node: root, ...variables, isDotElement: false };
}

/** The byte of its line that a character stands at, as Go counts: from 0. */
function byteColumn(text: string, at: number): number {
  const before = text.slice(0, at);
  return Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1));
}

/** What Go says of a failure at the current node. A deeper place, where it is known, is kept as the place of the fault. */
export function execFault(state: State, message: string, inner?: Fault): Fault {
  const { file, text, name } = state.definition;
  const { at } = state.node;
  const line = text.slice(0, at).split('\n').length;
  const place = `${file}:${line}:${byteColumn(text, at)}`;
  const context = nodeText(state.node);
  const said = `template: ${place}: executing ${goQuoted(name)} at <${context}>: ${message}`;
  const remedy = inner?.kind === 'unsupported' ? inner.remedy : 'Correct the template or its data.';
  return new Fault(inner?.kind ?? 'invalid', said, { at: inner?.at ?? placeOf(file, text, at), remedy });
}

export function setVariable(state: State, name: string, value: Value, isElement: boolean): void {
  const at = state.names.lastIndexOf(name);
  if (at < 0) throw execFault(state, `undefined variable: ${name}`);
  state.values[at] = value;
  state.elements[at] = isElement;
}

export function pushVariable(state: State, name: string, value: Value): void {
  state.names.push(name);
  state.values.push(value);
  state.elements.push(false);
}

export function popVariables(state: State, count: number): void {
  state.names.length = count;
  state.values.length = count;
  state.elements.length = count;
}
