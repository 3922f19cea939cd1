import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Size } from './api.ts';
import { everyPage } from './client.ts';

/** What DigitalOcean sells, or where; asked at most once an hour. */
const catalogue = (api: CloudClient, items: 'sizes' | 'regions', signal: AbortSignal): Promise<readonly Size[]> =>
  api.keep(items, HOUR_MS, () => everyPage<Size>(api, { path: `/${items}`, items }, signal));

export async function pricePerHour(api: CloudClient, size: string, signal: AbortSignal): Promise<number | undefined> {
  return (await catalogue(api, 'sizes', signal)).find(({ slug }) => slug === size)?.price_hourly;
}

interface Named {
  readonly size: string;
  readonly region: string;
}

/** Which of the two names are not in the cloud's list, with the nearest that is. */
export async function findUnlisted(api: CloudClient, named: Named, signal: AbortSignal): Promise<string[]> {
  const notes: string[] = [];
  for (const what of ['size', 'region'] as const) {
    const known = (await catalogue(api, `${what}s`, signal)).map(({ slug }) => slug);
    if (known.length === 0 || known.includes(named[what])) continue;
    const meant = nearest(named[what], known);
    const advice = meant === undefined ? '.' : `; did you mean "${meant}"?`;
    notes.push(`DigitalOcean lists no ${what} "${named[what]}"${advice}`);
  }
  return notes;
}

/** A refusal with what the cloud's list says of the names that were sent. */
export async function advised(api: CloudClient, fault: Fault, named: Named, signal: AbortSignal): Promise<Fault> {
  if (fault.kind !== 'invalid') return fault;
  const unlisted = await findUnlisted(api, named, signal).catch(() => []);
  if (unlisted.length === 0) return fault;
  return new Fault('invalid', fault.message, { cause: fault.cause, remedy: unlisted.join(' ') });
}
