// Names that Azure knows, and what sizes of machines can do.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Arm } from './client.ts';

interface Sku {
  readonly resourceType?: string;
  readonly name?: string;
  readonly locations?: readonly string[];
  readonly restrictions?: readonly { readonly type?: string; readonly reasonCode?: string }[];
  readonly capabilities?: readonly { readonly name?: string; readonly value?: string }[];
}

/** A size of machines. */
export interface Size {
  readonly name: string;
  readonly isArm: boolean;
  /** `V1`, `V2`: of Hyper-V, which an image is made for. */
  readonly generations: readonly string[];
}

interface Named {
  readonly name?: string;
}

const isForbidden = ({ restrictions = [] }: Sku): boolean => restrictions.some(({ type }) => type === 'Location');
const namesOf = (items: readonly Named[]): string[] => items.flatMap(({ name }) => name ?? []);

/** The sizes of machines in that location, those that the subscription may not have apart. */
function sizesIn(arm: Arm, location: string, signal: AbortSignal): Promise<readonly Size[]> {
  return arm.keep(`sizes ${location}`, HOUR_MS, async () => {
    const path = `/subscriptions/${arm.subscriptionId}/providers/Microsoft.Compute/skus`;
    const query = { $filter: `location eq '${location}'` };
    const skus = await arm.all<Sku>({ path, apiVersion: '2021-07-01', query }, signal);
    const sold = skus.filter((sku) => sku.resourceType === 'virtualMachines' && !isForbidden(sku));
    return sold.flatMap(({ name, capabilities = [] }) => {
      const capability = (key: string) => capabilities.find((one) => one.name === key)?.value;
      const generations = capability('HyperVGenerations')?.split(',') ?? ['V1', 'V2'];
      return name === undefined ? [] : [{ name, isArm: capability('CpuArchitectureType') === 'Arm64', generations }];
    });
  });
}

/** What an image must fit; nothing where Azure does not say. */
export async function sizeIn(
  arm: Arm,
  { vmSize, location }: { readonly vmSize: string; readonly location: string },
  signal: AbortSignal,
): Promise<Size | undefined> {
  // Whoever may not list sizes goes without; that there is no such size is told by the launch.
  const sizes = await sizesIn(arm, location, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind === 'denied' || fault.kind === 'missing') return [];
    throw fault;
  });
  return sizes.find(({ name }) => name.toLowerCase() === vmSize.toLowerCase());
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

/** A refusal with what Azure's lists say of the location that was sent, and of the size where there is one. */
export async function advised(
  arm: Arm,
  fault: Fault,
  { vmSize, location }: { readonly vmSize?: string; readonly location: string },
  signal: AbortSignal,
): Promise<Fault> {
  if (fault.kind !== 'invalid') return fault;
  const found = await Promise.all([
    locationsOf(arm, signal).then((known) => unlisted('location', location, known)),
    vmSize === undefined
      ? undefined
      : sizesIn(arm, location, signal).then((known) => unlisted(`size for ${location}:`, vmSize, namesOf(known))),
  ]).catch(() => []);
  const [place, size] = found;
  const remedy = place ?? size;
  return remedy === undefined ? fault : new Fault('invalid', fault.message, { cause: fault.cause, remedy });
}
