// Names that Google Cloud does not know, and what was probably meant.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Named } from './api.ts';
import type { Compute } from './client.ts';

/** The names of a listing of the project; asked at most once an hour. */
export function namesAt(compute: Compute, path: string, signal: AbortSignal): Promise<readonly string[]> {
  const query = { maxResults: 500, fields: 'items/name,nextPageToken' };
  const items = ({ items: found = [] }: { readonly items?: readonly Named[] }) => found.map(({ name }) => name);
  return compute.keep(`names ${path}`, HOUR_MS, () => compute.all({ path, query, items }, signal));
}

/** What of a configuration to compare with a list of the cloud. */
export interface WrittenName {
  /** The key of the configuration: `machine_type`. */
  readonly key: string;
  readonly written: string;
  readonly path: string;
}

async function notListed(compute: Compute, { key, written, path }: WrittenName, signal: AbortSignal) {
  const names = await namesAt(compute, path, signal);
  if (names.length === 0 || names.includes(written)) return undefined;
  const meant = nearest(written, names);
  const several = names.slice(0, 5).join(', ');
  return `Google Cloud lists no ${key} "${written}"${meant === undefined ? ` (there are: ${several}${names.length > 5 ? ', …' : ''}).` : `; did you mean "${meant}"?`}`;
}

/** A refusal, with what the cloud's own lists say of the names that were sent; the first that is not listed counts. */
export async function advised(
  compute: Compute,
  fault: Fault,
  names: readonly WrittenName[],
  signal: AbortSignal,
): Promise<Fault> {
  if (fault.kind !== 'invalid' && fault.kind !== 'missing') return fault;
  for (const name of names) {
    const remedy = await notListed(compute, name, signal).catch(() => undefined);
    if (remedy !== undefined) return new Fault(fault.kind, fault.message, { cause: fault.cause, remedy });
  }
  return fault;
}
