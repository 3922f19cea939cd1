// Names that Azure knows, asked only where it refused one of ours.
import { HOUR_MS } from '#core/clock.ts';
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

const isForbidden = ({ restrictions = [] }: Sku): boolean => restrictions.some(({ type }) => type === 'Location');
const namesOf = (items: readonly Named[]): string[] => items.flatMap(({ name }) => name ?? []);

/** The sizes of machines in that location, those that the subscription may not have apart. */
function sizesIn(arm: Arm, location: string, signal: AbortSignal): Promise<readonly string[]> {
  return arm.keep(`sizes ${location}`, HOUR_MS, async () => {
    const path = `/subscriptions/${arm.subscriptionId}/providers/Microsoft.Compute/skus`;
    const query = { $filter: `location eq '${location}'` };
    const skus = await arm.all<Sku>({ path, apiVersion: '2021-07-01', query }, signal);
    return namesOf(skus.filter((sku) => sku.resourceType === 'virtualMachines' && !isForbidden(sku)));
  });
}

function locationsOf(arm: Arm, signal: AbortSignal): Promise<readonly string[]> {
  return arm.keep('locations', HOUR_MS, async () => {
    const path = `/subscriptions/${arm.subscriptionId}/locations`;
    return namesOf(await arm.all<Named>({ path, apiVersion: '2022-12-01' }, signal));
  });
}

/** What Azure's own list says of a name that is not in it; nothing where it is. */
function unlisted(what: string, written: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || known.some((name) => name.toLowerCase() === written.toLowerCase())) return undefined;
  const meant = nearest(written, known);
  return `Azure lists no ${what} "${written}"${meant === undefined ? '.' : `; did you mean "${meant}"?`}`;
}

/** A refusal with what Azure's lists say of the size and location that were sent. */
export async function advised(
  arm: Arm,
  fault: Fault,
  { vmSize, location }: { readonly vmSize: string; readonly location: string },
  signal: AbortSignal,
): Promise<Fault> {
  if (fault.kind !== 'invalid') return fault;
  const found = await Promise.all([
    locationsOf(arm, signal).then((known) => unlisted('location', location, known)),
    sizesIn(arm, location, signal).then((known) => unlisted(`size for ${location}:`, vmSize, known)),
  ]).catch(() => []);
  const [place, size] = found;
  const remedy = place ?? size;
  return remedy === undefined ? fault : new Fault('invalid', fault.message, { cause: fault.cause, remedy });
}
