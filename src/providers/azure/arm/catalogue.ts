// Names that Azure knows, asked only where it refused one of ours.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Arm } from './client.ts';

interface Sku {
  readonly resourceType?: string;
  readonly name?: string;
  readonly locations?: readonly string[];
  readonly restrictions?: readonly { readonly type?: string; readonly reasonCode?: string }[];
}

interface Named {
  readonly name?: string;
}

/** `West Europe` and `westeurope` are the same place. */
export const locationName = (text: string): string => text.toLowerCase().replace(/\s+/g, '');

export interface Catalogue {
  /** The sizes of machines in that location, those that the subscription may not have apart. */
  sizes(location: string, signal: AbortSignal): Promise<readonly string[]>;
  locations(signal: AbortSignal): Promise<readonly string[]>;
}

function hourly<T>(clock: Clock, read: (signal: AbortSignal) => Promise<readonly T[]>) {
  let kept: { readonly atMs: number; readonly items: readonly T[] } | undefined;
  return async (signal: AbortSignal): Promise<readonly T[]> => {
    if (kept && clock.monotonic() - kept.atMs < HOUR_MS) return kept.items;
    const items = await read(signal);
    kept = { atMs: clock.monotonic(), items };
    return items;
  };
}

const isForbidden = ({ restrictions = [] }: Sku): boolean => restrictions.some(({ type }) => type === 'Location');
const namesOf = (items: readonly Named[]): string[] => items.flatMap(({ name }) => name ?? []);

const catalogues = new WeakMap<Arm, Catalogue>();

export function catalogueOf(arm: Arm): Catalogue {
  const known = catalogues.get(arm);
  if (known) return known;
  const path = `/subscriptions/${arm.subscriptionId}`;
  const sizesIn = new Map<string, (signal: AbortSignal) => Promise<readonly string[]>>();

  async function readSizes(location: string, signal: AbortSignal): Promise<readonly string[]> {
    const query = { $filter: `location eq '${location}'` };
    const request = { path: `${path}/providers/Microsoft.Compute/skus`, apiVersion: '2021-07-01', query };
    const skus = await arm.all<Sku>(request, signal);
    return namesOf(skus.filter((sku) => sku.resourceType === 'virtualMachines' && !isForbidden(sku)));
  }

  const catalogue: Catalogue = {
    sizes(location, signal) {
      const read = sizesIn.get(location) ?? hourly(arm.clock, (ending) => readSizes(location, ending));
      sizesIn.set(location, read);
      return read(signal);
    },
    locations: hourly(arm.clock, async (signal) =>
      namesOf(await arm.all<Named>({ path: `${path}/locations`, apiVersion: '2022-12-01' }, signal)),
    ),
  };
  catalogues.set(arm, catalogue);
  return catalogue;
}

/** What Azure's own list says of a name that is not in it; nothing where it is. */
function unlisted(what: string, written: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || known.some((name) => name.toLowerCase() === written.toLowerCase())) return undefined;
  const meant = nearest(written, known);
  return `Azure lists no ${what} "${written}"${meant === undefined ? '.' : `; did you mean "${meant}"?`}`;
}

/** A refusal with what Azure's lists say of the size and location that were sent. */
export async function advised(
  fault: Fault,
  { vmSize, location }: { readonly vmSize: string; readonly location: string },
  { catalogue, signal }: { readonly catalogue: Catalogue; readonly signal: AbortSignal },
): Promise<Fault> {
  if (fault.kind !== 'invalid') return fault;
  const found = await Promise.all([
    catalogue.locations(signal).then((known) => unlisted('location', location, known)),
    catalogue.sizes(location, signal).then((known) => unlisted(`size for ${location}:`, vmSize, known)),
  ]).catch(() => []);
  const [place, size] = found;
  const remedy = place ?? size;
  return remedy === undefined ? fault : new Fault('invalid', fault.message, { cause: fault.cause, remedy });
}
