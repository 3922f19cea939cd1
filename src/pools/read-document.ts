// Turns the text of a document into a definition, or into the fault that says what is wrong with it and where.
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { PoolSpec } from '#core/pool.ts';
import type { Allow, OpenedSource } from './registry.ts';

/** One thing that is wrong in a document, and where. */
export interface Problem {
  /** As the user wrote it: `auto_scaler.max_agents`; empty for the document itself. */
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
}

/** Reads the text of one pool document: JSON or YAML, whole or not at all. */
export type PoolReader = (
  text: string,
  options: Pick<OpenedSource, 'trust' | 'mayName'>,
) =>
  | { readonly spec: PoolSpec; readonly problems?: undefined; readonly warnings?: readonly Problem[] }
  | { readonly problems: readonly Problem[]; readonly spec?: undefined; readonly warnings?: readonly Problem[] };

export type Reading =
  | { readonly spec: PoolSpec; readonly fault?: undefined; readonly warnings: readonly string[] }
  | { readonly fault: Fault; readonly spec?: undefined; readonly warnings?: undefined };

const MOST_SHOWN = 10;

function placeOf({ path, line, column }: Problem): string | undefined {
  const spot = line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}`;
  return [spot, path].filter(Boolean).join(': ') || undefined;
}

function described(problem: Problem): string {
  const place = placeOf(problem);
  return place ? `${place}: ${problem.message}` : problem.message;
}

/** Several problems as one sentence, each with its own place. */
function together(problems: readonly Problem[]): string {
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => described(problem).replace(/\.$/, ''));
  const left = problems.length - shown.length;
  if (left > 0) shown.push(`and ${left} more`);
  return shown.join('; ').replace(/[^?!]$/, '$&.');
}

function faultOf(problems: readonly Problem[]): Fault {
  const [first, ...others] = problems;
  if (!first) return new Fault('internal', 'The document was refused without a reason.');
  return new Fault('invalid', others.length === 0 ? first.message : together(problems), {
    at: placeOf(first),
    remedy: 'Correct the document; until then its last good version stays in force.',
  });
}

function forbidden(source: string, at: string, message: string): Fault {
  return new Fault('denied', message, {
    at,
    remedy: `Change the document, or what the operator's configuration allows the source "${source}".`,
  });
}

/** Why the operator's limits for this source refuse the definition, if they do. */
function refusal(source: string, allow: Allow, spec: PoolSpec): Fault | undefined {
  const { backends, maxAgents, namePrefix } = allow;
  if (namePrefix !== undefined && !spec.name.startsWith(namePrefix)) {
    return forbidden(source, 'name', `Pools of this source must have names that begin with "${namePrefix}".`);
  }
  const offer = backends && spec.offers.find(({ kind }) => !backends.includes(kind));
  if (offer) {
    const known = backends.join(', ') || 'none';
    return forbidden(source, 'auto_scaler.backend', `This source may not use "${offer.kind}", only: ${known}.`);
  }
  if (maxAgents !== undefined && spec.scaling.maxAgents > maxAgents) {
    const message = `Pools of this source may have at most ${maxAgents} agents, not ${spec.scaling.maxAgents}.`;
    return forbidden(source, 'auto_scaler.max_agents', message);
  }
  return undefined;
}

// As much as a document of others may have; whoever reads more does so with limits.
const LONGEST_GUESS = 256 * 1_024;

/** The name that a text gives its pool, whatever else is wrong with it. */
export function nameIn(text: string): string | undefined {
  if (text.length > LONGEST_GUESS) return undefined;
  try {
    const read: unknown = parse(text, { logLevel: 'silent', uniqueKeys: false });
    const name = typeof read === 'object' && read !== null && 'name' in read ? read.name : undefined;
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Never throws: whatever a document does to the reader is that document's fault alone. */
export function readPoolDocument(
  readPool: PoolReader,
  { id, trust, allow, mayName }: Pick<OpenedSource, 'id' | 'trust' | 'allow' | 'mayName'>,
  text: string,
): Reading {
  try {
    const result = readPool(text, { trust, mayName });
    if (result.problems) return { fault: faultOf(result.problems) };
    const fault = allow && refusal(id, allow, result.spec);
    return fault ? { fault } : { spec: result.spec, warnings: (result.warnings ?? []).map(described) };
  } catch (thrown) {
    return { fault: Fault.from(thrown) };
  }
}
