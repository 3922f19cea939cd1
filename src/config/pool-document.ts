import type { z } from 'zod';
import type { PoolSpec } from '#core/pool.ts';
import type { Problem } from '#core/problem.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { type ExpectedLaunches, scalingWarnings } from '#core/scaling-warnings.ts';
import type { Expansion } from './environment.ts';
import { lendKinds, type Trust } from './kinds.ts';
import { locate, parseWith } from './parse.ts';
import { poolSchema } from './pool-schema.ts';
import { type Parsed, problemAt } from './problem.ts';
import type { TextReader } from './text-reader.ts';
import type { ConfigNode } from './tree.ts';
import { type DocumentLimits, FOREIGN_LIMITS, OPERATOR_LIMITS, readYaml, whyNoDocument } from './yaml-document.ts';

export interface ReadPoolOptions {
  /** The backends that pools may name. */
  readonly kinds: Kinds<Backend>;
  readonly trust: Trust;
  /** For foreign documents: operator-only backends that they may name all the same. */
  readonly mayName?: readonly string[] | undefined;
  /** Lets `${VAR}` and `file:` be read: only for the operator's own file. */
  readonly expand?: Expansion | undefined;
  /** Lets warnings say what they come to; absent where there are many documents. */
  readonly expected?: ExpectedLaunches | undefined;
}

export type PoolReading =
  | { readonly spec: PoolSpec; readonly warnings: readonly Problem[]; readonly problems?: undefined }
  | { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[]; readonly spec?: undefined };

/** Reads one pool document: the whole pool, or all its problems. */
export function readPool(document: string | ConfigNode, options: ReadPoolOptions): PoolReading {
  if (typeof document !== 'string') return readTree(document, options);
  const quick = readQuickly(document, options);
  if (quick) return quick;
  const tree = readYaml(document, limitsFor(options));
  return tree.problems ? tree : readTree(tree.value, options);
}

/** Reads the text of a pool document as `readPool` does, without a stall, whatever is in it. */
export function readPoolText(
  text: string,
  options: ReadPoolOptions,
  reader: TextReader,
): PoolReading | Promise<PoolReading> {
  const quick = readQuickly(text, options);
  if (quick) return quick;
  const finish = (tree: Parsed<ConfigNode>): PoolReading => (tree.problems ? tree : readTree(tree.value, options));
  const tree = reader.read(text, limitsFor(options));
  return tree instanceof Promise ? tree.then(finish) : finish(tree);
}

const limitsFor = ({ trust }: ReadPoolOptions): DocumentLimits =>
  trust === 'operator' ? OPERATOR_LIMITS : FOREIGN_LIMITS;

/** Of ten thousand documents most come from programs and are right; one with a problem is read again, with places. */
function readQuickly(text: string, options: ReadPoolOptions): PoolReading | undefined {
  const limits = limitsFor(options);
  const tree = whyNoDocument(text, limits) === undefined ? readCompactJson(text, limits.values) : undefined;
  const read = tree && readTree(tree, options);
  if (!read?.spec) return undefined;
  // A warning about its limits names the key. A program writes the document in one line, so the position says nothing.
  return read.warnings.length === scalingWarnings(read.spec).length ? read : undefined;
}

function readTree(tree: ConfigNode, options: ReadPoolOptions): PoolReading {
  const expand = options.trust === 'operator' ? options.expand : undefined;
  const {
    value: spec,
    problems,
    warnings,
  } = parseWith(schemaFor(withLent(options)), tree, {
    expand,
    refusesFiles: options.trust === 'foreign',
  });
  if (problems) return { problems, warnings };
  return { spec, warnings: [...warnings, ...poolWarnings(spec, tree, { expected: options.expected })] };
}

const lendings = new WeakMap<Kinds<Backend>, Map<string, Kinds<Backend>>>();

/** Equal lendings are one set of kinds, so that their schema is made once. */
function withLent({ kinds, trust, mayName = [] }: ReadPoolOptions): Pick<ReadPoolOptions, 'kinds' | 'trust'> {
  if (trust === 'operator' || mayName.length === 0) return { kinds, trust };
  const made = lendings.get(kinds) ?? new Map<string, Kinds<Backend>>();
  lendings.set(kinds, made);
  const names = mayName.toSorted();
  const borrowed = made.get(names.join(' ')) ?? lendKinds(kinds, names);
  made.set(names.join(' '), borrowed);
  return { kinds: borrowed, trust };
}

const schemas = new WeakMap<Kinds<Backend>, { readonly [trust in Trust]: z.ZodType<PoolSpec> }>();

/** Making a schema costs more than using it: one for each set of kinds. */
export function schemaFor({ kinds, trust }: Pick<ReadPoolOptions, 'kinds' | 'trust'>): z.ZodType<PoolSpec> {
  const made = schemas.get(kinds) ?? { operator: poolSchema(kinds, 'operator'), foreign: poolSchema(kinds, 'foreign') };
  schemas.set(kinds, made);
  return made[trust];
}

/** Warnings: allowed, but probably not intended. `under` is the path of the pool in its document. */
export function poolWarnings(
  spec: PoolSpec,
  root: ConfigNode,
  { under = '', expected }: { readonly under?: string } & Pick<ReadPoolOptions, 'expected'> = {},
): readonly Problem[] {
  const { scaling, agentAuth, agentNetworks } = spec;
  const warnings: Problem[] = [];
  const warn = (keys: readonly PropertyKey[], message: string): void => {
    const { path, place } = locate(root, keys, under);
    warnings.push(problemAt(path, place, message));
  };
  const mostSlots = scaling.maxAgents * scaling.slotsPerAgent;
  if (scaling.maxAgents > 0 && scaling.minIdleSlots > mostSlots) {
    warn(
      ['autoScaler', 'minIdleAgents'],
      `is ${scaling.minIdleSlots} idle slots, but max_agents allows at most ${mostSlots}`,
    );
  }
  for (const { key, at, message } of scalingWarnings(spec, expected))
    warn(['autoScaler', key, ...(at === undefined ? [] : [at])], message);
  if (agentAuth === 'network') {
    warn(['agentAuth'], 'lets every program in agent_networks join as an agent; prefer token');
  } else if (agentNetworks.length > 0) {
    warn(['agentNetworks'], 'has no effect without agent_auth: network');
  }
  return warnings;
}

/** Deeper than any pool document: such a one is for the reader that knows the limits. */
const DEEPEST = 32;

/**
 * The tree of a document that a program wrote: JSON without a blank or a second spelling of anything. It has no places,
 * and takes a tenth of the time of reading YAML. Nothing for every other text, however good.
 */
export function readCompactJson(text: string, mostValues = Number.POSITIVE_INFINITY): ConfigNode | undefined {
  // As a key it would be no key but the prototype.
  if (!text.startsWith('{') || text.includes('__proto__')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // A key that comes twice, a number that was rounded: then something is lost, and the text comes out different.
    return JSON.stringify(value) === text ? compactTree(value, mostValues) : undefined;
  } catch {
    return undefined;
  }
}

/** Nothing where it is too deep or has too many values: such a document is for the reader that words problems. */
function compactTree(whole: unknown, mostValues: number): ConfigNode | undefined {
  let count = 0;

  function treeOf(value: unknown, depth: number): ConfigNode | undefined {
    count += 1;
    if (depth > DEEPEST || count > mostValues) return undefined;
    if (Array.isArray(value)) {
      const items = value.flatMap((item) => treeOf(item, depth + 1) ?? []);
      return items.length === value.length ? { is: 'list', items } : undefined;
    }
    if (typeof value !== 'object' || value === null)
      return { is: 'scalar', value: value as string | number | boolean | null };
    const given = Object.entries(value);
    const entries = given.flatMap(([key, inner]) => {
      const node = treeOf(inner, depth + 1);
      return node ? [{ key, value: node }] : [];
    });
    return entries.length === given.length ? { is: 'map', entries } : undefined;
  }

  return treeOf(whole, 0);
}
