import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Region, Size } from './api.ts';
import type { DigitalOcean } from './client.ts';

interface Kept<T> {
  readonly atMs: number;
  readonly items: readonly T[];
}

/** What DigitalOcean sells and where; asked at most once an hour. */
export interface Catalogue {
  sizes(signal: AbortSignal): Promise<readonly Size[]>;
  regions(signal: AbortSignal): Promise<readonly Region[]>;
}

function hourly<T>(clock: Clock, read: (signal: AbortSignal) => Promise<T[]>) {
  let kept: Kept<T> | undefined;
  return async (signal: AbortSignal): Promise<readonly T[]> => {
    if (kept && clock.monotonic() - kept.atMs < HOUR_MS) return kept.items;
    const items = await read(signal);
    kept = { atMs: clock.monotonic(), items };
    return items;
  };
}

const catalogues = new WeakMap<DigitalOcean, Catalogue>();

export function catalogueOf(api: DigitalOcean): Catalogue {
  const keyOf = ({ slug }: { slug: string }): string => slug;
  const catalogue = catalogues.get(api) ?? {
    sizes: hourly(api.clock, (signal) => api.all<Size>({ path: '/sizes', items: 'sizes', keyOf }, signal)),
    regions: hourly(api.clock, (signal) => api.all<Region>({ path: '/regions', items: 'regions', keyOf }, signal)),
  };
  catalogues.set(api, catalogue);
  return catalogue;
}

const slugsOf = (items: readonly { readonly slug: string }[]): string[] => items.map(({ slug }) => slug);

/** What the cloud's own list says of a name that is not in it; nothing where it is. */
export function notListed(what: 'size' | 'region', written: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || known.includes(written)) return undefined;
  const meant = nearest(written, known);
  return `DigitalOcean lists no ${what} "${written}"${meant === undefined ? '.' : `; did you mean "${meant}"?`}`;
}

/** Which of the two names are not in the cloud's list. */
export async function findUnlisted(
  { size, region }: { readonly size: string; readonly region: string },
  catalogue: Catalogue,
  signal: AbortSignal,
): Promise<string[]> {
  const sizes = slugsOf(await catalogue.sizes(signal));
  const regions = slugsOf(await catalogue.regions(signal));
  return [notListed('size', size, sizes) ?? [], notListed('region', region, regions) ?? []].flat();
}

/** A refusal with what the cloud's list says of the names that were sent. */
export async function advised(
  fault: Fault,
  named: { readonly size: string; readonly region: string },
  { catalogue, signal }: { readonly catalogue: Catalogue; readonly signal: AbortSignal },
): Promise<Fault> {
  if (fault.kind !== 'invalid') return fault;
  const unlisted = await findUnlisted(named, catalogue, signal).catch(() => []);
  if (unlisted.length === 0) return fault;
  return new Fault('invalid', fault.message, { cause: fault.cause, remedy: unlisted.join(' ') });
}
