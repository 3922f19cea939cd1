import { resolve } from 'node:path';
import { z } from 'zod';
import { nearest } from '#core/nearest.ts';
import type { Problem } from '#core/problem.ts';
import type { SchemaNotes } from '#core/schema.ts';
import type { Expansion } from './environment.ts';
import { escapeVariables, expandSecretFile, expandVariables } from './expand.ts';
import { isKey, joinPath, toCamel, toSnake } from './keys.ts';
import { MOST_PROBLEMS, problemAt } from './problem.ts';
import { catchallOf, objectFieldsOf, type Schema, type Unwrapped, unwrap } from './schema-walk.ts';
import { type ConfigNode, type Entry, type MapNode, plain, type ScalarNode } from './tree.ts';

/** What goes along on the way through a document and its schema. */
export interface Walk {
  /** Present only for the operator's own documents. */
  readonly expand?: Expansion | undefined;
  /** Refuses texts that name a file of the server, also where none would be read: the writer meant it to be. */
  readonly refusesFiles?: boolean | undefined;
  /** Leaves expanded texts so that reading them again changes nothing. */
  readonly escape?: boolean | undefined;
  /** Of the document; paths in it are relative to that. */
  readonly directory?: string | undefined;
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
  /** Within a schema that refuses keys of the operator. */
  readonly isOfOthers?: boolean | undefined;
}

export function newWalk(expand: Expansion | undefined, refusesFiles = false): Walk {
  return { expand, refusesFiles, problems: [], warnings: [], expanded: new Map(), choices: new Map() };
}

const FILE_PATH = /^file:\//;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** One plain value, expanded where it is a text, and turned into the number or truth value that the schema wants. */
export function fitScalar({ def, notes }: Unwrapped, node: ScalarNode, way: Way): unknown {
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
  if (notes.filePath) return readablePath(text, node, way);
  return way.walk.escape ? escapeVariables(text) : text;
}

/** The whole path of a file of the server, relative to the document that names it; an empty one names none. */
function readablePath(text: string, node: ScalarNode, { path, walk }: Way): string {
  if (text === '') return text;
  const whole = resolve(walk.directory ?? '.', text);
  const why = walk.expand?.unreadable?.(whole);
  if (why !== undefined) walk.problems.push(problemAt(path, node.place, `cannot be read: ${why} (${whole})`));
  return whole;
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

const ANYTHING = z.unknown();

const within = (way: Way, key: string | number): Way => ({ ...way, path: joinPath(way.path, key) });

/**
 * Makes of a tree the plain value that its schema expects: keys in the schema's spelling, texts expanded,
 * numbers taken out of texts where numbers are wanted. Whether the value is right is for the schema to say.
 */
export function fitToSchema(schema: Schema, node: ConfigNode, from: Way): unknown {
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  const way = notes.ofOthers ? { ...from, isOfOthers: true } : from;
  if (notes.literal || notes.unused !== undefined) return plain(node);
  if (def.type === 'union') return fitUnion(unwrapped, node, way);
  if (node.is === 'scalar') return fitScalar(unwrapped, node, way);
  if (node.is === 'list')
    return node.items.map((item, at) => fitToSchema(elementOf(unwrapped, at), item, within(way, at)));
  if (objectFieldsOf(unwrapped)) return fitObject(unwrapped, node, way);
  const valueType = def.type === 'record' ? def.valueType : ANYTHING;
  return Object.fromEntries(
    node.entries.map(({ key, value }) => [key, fitToSchema(valueType, value, within(way, key))]),
  );
}

function elementOf({ def }: Unwrapped, at: number): Schema {
  if (def.type === 'array') return def.element;
  if (def.type === 'tuple') return def.items[at] ?? def.rest ?? ANYTHING;
  return ANYTHING;
}

const spellings = new WeakMap<object, ReadonlyMap<string, string>>();

/** Every spelling that users may write, with the schema's key; worked out once for each schema. */
function spellingsOf(keys: Readonly<Record<string, Schema>>): ReadonlyMap<string, string> {
  const made =
    spellings.get(keys) ??
    new Map(Object.keys(keys).flatMap((key) => [key, toCamel(key), toSnake(key)].map((spelling) => [spelling, key])));
  spellings.set(keys, made);
  return made;
}

function fitObject(unwrapped: Unwrapped, node: MapNode, way: Way): unknown {
  const keys = objectFieldsOf(unwrapped) ?? {};
  const known = spellingsOf(keys);
  const taken = new Map<string, string>();
  const fitted: [string, unknown][] = [];
  for (const written of node.entries) {
    const inside = within(way, written.key);
    const key = known.get(written.key);
    if (key === undefined) {
      const value = fitUnknownKey(unwrapped, written, inside);
      if (value !== undefined) fitted.push([written.key, value]);
      continue;
    }
    const schema = keys[key] as Schema;
    const entry = unwrapped.notes.noun !== undefined && objectFieldsOf(unwrap(schema)) ? withoutNull(written) : written;
    if (taken.has(key)) tell(inside, entry, () => `is the same key as ${taken.get(key)}; keep one of them`);
    else if (!isAbsent(schema, entry)) fitted.push([key, fitEntry(schema, entry, inside)]);
    taken.set(key, written.key);
  }
  return Object.fromEntries(fitted);
}

const tell = ({ path, walk }: Way, { place }: Entry, message: () => string): void => {
  if (walk.problems.length < MOST_PROBLEMS) walk.problems.push(problemAt(path, place, message()));
};

const isNull = (node: ConfigNode): boolean => node.is === 'scalar' && node.value === null;

/** A key without a value is an absent key, as in proto-JSON, unless the schema has a use for null. */
const isAbsent = (schema: Schema, { value }: Entry): boolean => isNull(value) && !z.safeParse(schema, null).success;

/** A kind named without settings (`process:`) is that kind with none. */
function withoutNull(entry: Entry): Entry {
  return isNull(entry.value) ? { ...entry, value: { is: 'map', entries: [], place: entry.place } } : entry;
}

function fitEntry(schema: Schema, entry: Entry, way: Way): unknown {
  const { notes } = unwrap(schema);
  if (way.isOfOthers && notes.operatorOnly) {
    tell(way, entry, () => operatorKeyMessage(entry.key, notes.operatorOnly));
    return undefined;
  }
  if (notes.unused !== undefined) {
    way.walk.warnings.push(problemAt(way.path, entry.place, `has no effect: ${notes.unused}`));
  }
  return fitToSchema(schema, entry.value, way);
}

function operatorKeyMessage(key: string, why: SchemaNotes['operatorOnly']): string {
  const reason = typeof why === 'string' ? why : 'it decides where credentials are sent';
  return `${toSnake(key)} may be set only in the operator's own file: ${reason}`;
}

function fitUnknownKey(unwrapped: Unwrapped, entry: Entry, way: Way): unknown {
  const catchall = catchallOf(unwrapped);
  if (catchall) return fitToSchema(catchall, entry.value, way);
  tell(way, entry, () => {
    const spell = /[A-Z]/.test(entry.key) ? toCamel : toSnake;
    const known = Object.keys(objectFieldsOf(unwrapped) ?? {}).map(spell);
    return strangerMessage(entry.key, known, unwrapped.notes.noun ?? 'key');
  });
  return undefined;
}

const MOST_NAMED = 16;

function strangerMessage(written: string, known: readonly string[], noun: string): string {
  const what = `is not a known ${noun}`;
  const meant = nearest(written, known);
  if (meant !== undefined) return `${what}; did you mean ${meant}?`;
  const named = known.slice(0, MOST_NAMED).join(', ') + (known.length > MOST_NAMED ? ', …' : '');
  return known.length === 0 ? what : `${what}; known here: ${named}`;
}

interface Option {
  readonly option: Schema;
  /** Its place in the union. */
  readonly at: number;
}

function fitUnion(union: Unwrapped, node: ConfigNode, way: Way): unknown {
  const { def, notes } = union;
  if (def.type !== 'union') return undefined;
  if (node.is === 'scalar' && (notes.sourceText || notes.secret)) return fitScalar(union, node, way);
  const options = def.options.flatMap((option, at) => (mayBe(unwrap(option), node) ? [{ option, at }] : []));
  const discriminator = 'discriminator' in def ? String(def.discriminator) : undefined;
  if (discriminator === undefined || node.is !== 'map') return bestOf(options, node, way);
  const named = node.entries.find(({ key }) => isKey(key, discriminator))?.value;
  const value = named && (plain(named) as string);
  const isNamed = ({ option }: Option) => value !== undefined && option._zod.propValues?.[discriminator]?.has(value);
  const chosen = options.find(isNamed);
  // Without a known discriminator there is no telling which keys are right; the schema names the choices.
  return chosen ? fitToSchema(chosen.option, node, way) : { [discriminator]: value };
}

/** Whether a value of this form could be meant for that option at all. */
function mayBe(option: Unwrapped, node: ConfigNode): boolean {
  const { def } = option;
  const isOpen = ['unknown', 'any', 'custom', 'transform', 'union'].includes(def.type);
  if (isOpen) return true;
  if (node.is === 'list') return def.type === 'array' || def.type === 'tuple';
  if (node.is === 'map') return def.type === 'record' || objectFieldsOf(option) !== undefined;
  return !['array', 'tuple', 'record', 'object', 'intersection'].includes(def.type);
}

/** The first option without problems, or else the one with the fewest. */
function bestOf(options: readonly Option[], node: ConfigNode, way: Way): unknown {
  const { walk } = way;
  let best: { readonly value: unknown; readonly trial: Walk; readonly wrong: number; readonly at: number } | undefined;
  for (const { option, at } of options.length > 0 ? options : [{ option: ANYTHING, at: -1 }]) {
    const trial: Walk = { ...walk, problems: [], warnings: [] };
    const value = fitToSchema(option, node, { ...way, walk: trial });
    const isOnly = options.length <= 1;
    const wrong = isOnly ? 0 : trial.problems.length + (z.safeParse(option, value).error?.issues.length ?? 0);
    if (!best || wrong < best.wrong) best = { value, trial, wrong, at };
    if (wrong === 0) break;
  }
  walk.problems.push(...(best?.trial.problems ?? []));
  walk.warnings.push(...(best?.trial.warnings ?? []));
  // Of scalars the message names all that would do.
  if (best && best.at >= 0 && node.is !== 'scalar') walk.choices.set(node, best.at);
  return best?.value;
}
