import type { Problem } from '#core/problem.ts';
import type { Expansion } from './environment.ts';
import { escapeVariables, expandSecretFile, expandVariables } from './expand.ts';
import { problemAt } from './problem.ts';
import type { Unwrapped } from './schema-walk.ts';
import type { ConfigNode, ScalarNode } from './tree.ts';

/** What goes along on the way through a document and its schema. */
export interface Walk {
  /** Present only for the operator's own documents. */
  readonly expand?: Expansion | undefined;
  /** Refuses texts that name a file of the server, also where none would be read: whoever wrote it meant it to be. */
  readonly refusesFiles?: boolean | undefined;
  /** Leaves expanded texts so that reading them again changes nothing. */
  readonly escape?: boolean | undefined;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /** What texts became, so that no message shows a value from the environment. */
  readonly expanded: Map<ScalarNode, string>;
  /** Which option of a union a value was taken for, so that the messages are about that one. */
  readonly choices: Map<ConfigNode, number>;
}

/** Where in the document we are. */
export interface Way {
  /** As the user wrote it. */
  readonly path: string;
  readonly walk: Walk;
}

export function newWalk(expand: Expansion | undefined, refusesFiles = false): Walk {
  return { expand, refusesFiles, problems: [], warnings: [], expanded: new Map(), choices: new Map() };
}

const FILE_PATH = /^file:\//;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** One plain value, expanded where it is a text, and turned into the number or truth value that the schema wants. */
export function shapeScalar({ def, notes }: Unwrapped, node: ScalarNode, way: Way): unknown {
  const { value } = node;
  if (typeof value !== 'string') {
    return notes.sourceText && value !== null ? (node.source ?? String(value)) : value;
  }
  const namesFile = way.walk.refusesFiles && def.type === 'string' && !notes.hidden && FILE_PATH.test(value);
  const text = expandText(notes.secret === true || namesFile === true, node, way);
  if (text === undefined) return value;
  // proto-JSON writes 64-bit numbers as texts; a truth value in quotes is a mistake, unless a variable put it there.
  if (def.type === 'number' && NUMBER.test(text)) return Number(text);
  if (def.type === 'boolean' && text !== value && /^(true|false)$/.test(text)) return text === 'true';
  return way.walk.escape ? escapeVariables(text) : text;
}

function expandText(isSecret: boolean, node: ScalarNode, { path, walk }: Way): string | undefined {
  const outcomes = [expandVariables(String(node.value), walk.expand)];
  const [first] = outcomes;
  if (isSecret && first?.problem === undefined) outcomes.push(expandSecretFile(first?.text ?? '', walk.expand));
  let text: string | undefined;
  for (const outcome of outcomes) {
    if (outcome.problem !== undefined) {
      walk.problems.push(problemAt(path, node.place, outcome.problem));
      return undefined;
    }
    if (outcome.warning !== undefined) walk.warnings.push(problemAt(path, node.place, outcome.warning));
    text = outcome.text;
  }
  if (text !== undefined && text !== node.value) walk.expanded.set(node, text);
  return text;
}
