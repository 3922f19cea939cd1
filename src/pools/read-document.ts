// Turns the text of a document into a definition, or into the fault that says what is wrong with it and where.
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { PoolSpec } from '#core/pool.ts';
import { type Problem, placeOfProblem, problemText } from '#core/problem.ts';
import type { Document } from '#core/provider.ts';
import type { Allow, OpenedSource } from './registry.ts';

/** Reads the text of one pool document: JSON or YAML, whole or not at all. */
export type PoolReader = (
  text: string,
  options: Pick<OpenedSource, 'trust' | 'mayName'>,
) => PoolText | Promise<PoolText>;

type PoolText =
  | { readonly spec: PoolSpec; readonly problems?: undefined; readonly warnings?: readonly Problem[] }
  | { readonly problems: readonly Problem[]; readonly spec?: undefined; readonly warnings?: readonly Problem[] };

export type Reading =
  | { readonly spec: PoolSpec; readonly fault?: undefined; readonly warnings: readonly string[] }
  | { readonly fault: Fault; readonly spec?: undefined; readonly warnings?: undefined };

const MOST_IN_MESSAGE = 10;
// A document that is wrong everywhere must not fill the store.
const MOST_KEPT = 100;

/** Several problems as one line, each with its own place. */
function together(problems: readonly Problem[]): string {
  const shown = problems.slice(0, MOST_IN_MESSAGE).map((problem) => problemText(problem).replace(/\.$/, ''));
  const left = problems.length - shown.length;
  if (left > 0) shown.push(`and ${left} more`);
  return shown.join('; ').replace(/[^?!]$/, '$&.');
}

/** All problems of a document as the one fault that refuses it; a single one keeps its place beside its message. */
function faultOf(kind: 'invalid' | 'denied', problems: readonly Problem[], remedy: string): Fault {
  const [first, ...others] = problems;
  if (!first) return new Fault('internal', 'The document was refused without a reason.');
  const isOne = others.length === 0;
  return new Fault(kind, isOne ? first.message : together(problems), {
    at: isOne ? placeOfProblem(first) : undefined,
    remedy,
    problems: problems.slice(0, MOST_KEPT),
  });
}

/** Everything by which the operator's limits for this source refuse the definition. */
function refusals(allow: Allow, spec: PoolSpec, key: string | undefined): readonly Problem[] {
  const { backends, maxAgents, namePrefix, namespaces } = allow;
  const problems: Problem[] = [];
  const [namespace = ''] = key?.split('/') ?? [];
  if (key !== undefined && namespaces && !namespaces.includes(namespace)) {
    const message = `Documents of this source must be in one of the namespaces ${namespaces.join(', ')}.`;
    problems.push({ path: 'metadata.namespace', message });
  }
  if (namePrefix !== undefined && !spec.name.startsWith(namePrefix)) {
    problems.push({
      path: 'name',
      message: `Pools of this source must have names that begin with "${namePrefix}".`,
    });
  }
  const strange = new Set(backends && spec.offers.map(({ kind }) => kind).filter((kind) => !backends.includes(kind)));
  for (const kind of strange) {
    const known = backends?.join(', ') || 'none';
    problems.push({ path: 'auto_scaler.backend', message: `This source may not use "${kind}", only: ${known}.` });
  }
  if (maxAgents !== undefined) problems.push(...tooManyAgents(maxAgents, spec));
  return problems;
}

/** In the definition, in a window of its schedules, or as idle slots of its wait target. */
function tooManyAgents(most: number, { scaling, schedules = [], waitTarget }: PoolSpec): readonly Problem[] {
  const asked = [
    ['max_agents', scaling.maxAgents] as const,
    ...schedules.map((window, at) => [`schedules[${at}].max_agents`, window.maxAgents ?? 0] as const),
    ['wait_target.max_idle_agents', Math.ceil((waitTarget?.maxIdleSlots ?? 0) / scaling.slotsPerAgent)] as const,
  ];
  return asked
    .filter(([, agents]) => agents > most)
    .map(([key, agents]) => {
      const message = `Pools of this source may have at most ${most} agents, not ${agents}.`;
      return { path: `auto_scaler.${key}`, message };
    });
}

/** In the words of the writer, where the source made the text itself: lines of that text mean nothing to anyone else. */
function inWritersPaths(problems: readonly Problem[], paths: Document['paths']): readonly Problem[] {
  if (!paths) return problems;
  return problems.map(({ path, message, remedy }) => ({ path: writersPath(path, paths), message, remedy }));
}

/** By the longest key that leads there. */
function writersPath(path: string, paths: Readonly<Record<string, string>>): string {
  const isAbove = (key: string): boolean =>
    path === key || (path.startsWith(key) && /^[.[]/.test(path.slice(key.length)));
  const [key] = Object.keys(paths)
    .filter(isAbove)
    .toSorted((a, b) => b.length - a.length);
  return key === undefined ? path : `${paths[key]}${path.slice(key.length)}`;
}

// The size limit of foreign documents; longer texts are read only by the reader with limits.
const LONGEST_GUESS = 256 * 1_024;
const LONGEST_NAME = 300;
// At the left margin, or first within braces.
const NAME_LINE = /^(?:\{[ \t\n]*)?(?:name|"name"|'name')[ \t]*:[ \t]*("[^"\n]*"|'[^'\n]*'|[^\n#,}[{&*!|>]*)/m;

/** The name that a text seems to give its pool, whatever else is wrong with it: found without reading all of it. */
export function nameIn(text: string): string | undefined {
  if (text.length > LONGEST_GUESS) return undefined;
  try {
    const [, written = ''] = NAME_LINE.exec(text) ?? [];
    const isLine = written.trim() !== '' && written.length <= LONGEST_NAME;
    const name: unknown = isLine ? parse(written, { logLevel: 'silent' }) : nameInJson(text);
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

function nameInJson(text: string): unknown {
  const read: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  return typeof read === 'object' && read !== null && 'name' in read ? read.name : undefined;
}

/** Who wrote a document, what the operator lets them define, and what their own paths are. */
export type DocumentRules = Pick<OpenedSource, 'id' | 'trust' | 'allow' | 'mayName'> &
  Pick<Document, 'paths'> &
  Partial<Pick<Document, 'key'>>;

/**
 * Never throws: whatever a document does to the reader is that document's fault alone. At once where the reader is, so that
 * sources whose documents are short are read in the order in which they came.
 */
export function readPoolDocument(readPool: PoolReader, rules: DocumentRules, text: string): Reading | Promise<Reading> {
  const { trust, mayName } = rules;
  try {
    const read = readPool(text, { trust, mayName });
    if (!(read instanceof Promise)) return judge(read, rules);
    return read.then((result) => judge(result, rules)).catch((thrown) => ({ fault: Fault.from(thrown) }));
  } catch (thrown) {
    return { fault: Fault.from(thrown) };
  }
}

function judge(read: PoolText, { id, allow, paths, key }: DocumentRules): Reading {
  if (read.problems)
    return { fault: faultOf('invalid', inWritersPaths(read.problems, paths), 'Correct the document.') };
  const forbidden = inWritersPaths(allow ? refusals(allow, read.spec, key) : [], paths);
  if (forbidden.length > 0) {
    const remedy = `Change the document, or what the operator's configuration allows the source "${id}".`;
    return { fault: faultOf('denied', forbidden, remedy) };
  }
  return { spec: read.spec, warnings: inWritersPaths(read.warnings ?? [], paths).map(problemText) };
}
