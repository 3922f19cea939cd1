// The scale set that a pool names: found, and refused where machines of ours cannot live in it.
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { COMPUTE_VERSION, type Resource } from '../vm/api.ts';
import type { Group } from '../vm/group.ts';

export type Tree = Readonly<Record<string, unknown>>;

export interface ScaleSet extends Resource {
  readonly location: string;
  readonly zones?: readonly string[];
  readonly sku?: { readonly name?: string };
  /** What is bought along with an image of the marketplace. */
  readonly plan?: Tree;
  readonly identity?: { readonly type?: string; readonly userAssignedIdentities?: Tree };
  readonly properties: {
    /** Absent in sets of old, which are uniform. */
    readonly orchestrationMode?: string;
    readonly virtualMachineProfile?: Tree;
  };
}

interface Autoscale extends Resource {
  readonly properties?: { readonly enabled?: boolean; readonly targetResourceUri?: string };
}

const setsPath = ({ path }: Group): string => `${path}/providers/Microsoft.Compute/virtualMachineScaleSets`;

async function missing(group: Group, name: string, cause: Fault, signal: AbortSignal): Promise<Fault> {
  const request = { path: setsPath(group), apiVersion: COMPUTE_VERSION };
  const known = await group.arm.all<Resource>(request, signal).catch(() => []);
  const names = known.map((set) => set.name);
  const meant = nearest(name, names);
  const remedy =
    meant === undefined
      ? `Correct vmss_name or resource_group; the group has: ${names.slice(0, 5).join(', ') || 'no scale sets'}.`
      : `Did you mean ${meant}?`;
  const where = group.path.split('/').at(-1);
  return new Fault('missing', `There is no scale set ${name} in the resource group ${where} (${group.arm.host}).`, {
    cause,
    remedy,
  });
}

function refuseUniform({ name, properties }: ScaleSet): void {
  if (properties.orchestrationMode?.toLowerCase() === 'flexible') return;
  throw new Fault(
    'unsupported',
    `The scale set ${name} has the orchestration mode Uniform: Azure itself names its machines and chooses which of them to delete.`,
    { remedy: 'Create a scale set with the orchestration mode Flexible, or use the backend azure_vm.' },
  );
}

/** Two that change the size of one set would undo each other's work. */
async function refuseAutoscaled(group: Group, { id, name }: ScaleSet, signal: AbortSignal): Promise<void> {
  const path = `${group.path}/providers/microsoft.insights/autoscalesettings`;
  // Whoever may not read these settings does without the check.
  const settings = await group.arm.all<Autoscale>({ path, apiVersion: '2022-10-01' }, signal).catch(() => []);
  const isOf = ({ properties }: Autoscale): boolean =>
    properties?.enabled === true && properties.targetResourceUri?.toLowerCase() === id.toLowerCase();
  const found = settings.find(isOf);
  if (!found) return;
  throw new Fault('unsupported', `The scale set ${name} is scaled by the autoscale setting ${found.name} too.`, {
    remedy: `Disable it (az monitor autoscale update --name ${found.name} --enabled false), or name a set without one.`,
  });
}

/** The set as it is now. */
export async function findSet(group: Group, name: string, signal: AbortSignal): Promise<ScaleSet> {
  const request = { path: `${setsPath(group)}/${encodeURIComponent(name)}`, apiVersion: COMPUTE_VERSION };
  const set = await group.arm.ask<ScaleSet>(request, signal).catch(async (thrown) => {
    const fault = Fault.from(thrown);
    throw fault.kind === 'missing' ? await missing(group, name, fault, signal) : fault;
  });
  refuseUniform(set);
  if (!set.properties.virtualMachineProfile || !set.sku?.name) {
    throw new Fault('invalid', `The scale set ${name} has no profile for machines.`, {
      remedy: 'Create it with a size and an image, or use the backend azure_vm.',
    });
  }
  await refuseAutoscaled(group, set, signal);
  return set;
}
