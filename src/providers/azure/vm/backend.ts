import type { Backend, Context, Machine } from '#core/provider.ts';
import { advised, catalogueOf } from '../arm/catalogue.ts';
import { type Arm, armAt } from '../arm/client.ts';
import { bodyFor } from './body.ts';
import type { VmConfig } from './config.ts';
import { type CreatorDeps, creatorOf } from './create.ts';
import { cloudOf, type Group, groupAt, look } from './group.ts';
import { findFailures, followOperations } from './late.ts';
import { findLeftovers, leftMachines } from './leftovers.ts';
import { machineOf } from './marks.ts';
import { priceOf } from './prices.ts';
import { removerOf } from './remove.ts';

// A refusal that an operation told of is passed on by a listing: soon, and no more often where listings take long.
const LEAST_GAP_MS = 1_000;

async function listIn(group: Group, signal: AbortSignal): Promise<readonly Machine[]> {
  const snapshot = await look(group, signal);
  await findFailures(group, { snapshot, signal });
  await findLeftovers(group, snapshot, signal);
  const { reasons, failed } = group;
  const listed = [...snapshot.vms.values()].flatMap((vm) => {
    const machine = machineOf(vm);
    const isFailed = machine?.state === 'failed';
    // What became of it is not known yet: until then it is on its way.
    const judged = isFailed ? (reasons.get(vm.properties.vmId)?.machine ?? { state: 'creating' as const }) : {};
    return machine ? [{ ...machine, ...judged }] : [];
  });
  const isListed = (name: string): boolean => snapshot.vms.has(name) || failed.has(name);
  return [...listed, ...failed.values(), ...leftMachines(group, isListed)];
}

/** Machines of one resource group, however they are formed. */
export function openMachines(
  arm: Arm,
  { resourceGroup, context }: { readonly resourceGroup: string; readonly context: Context },
  forming: (group: Group) => Omit<CreatorDeps, 'group'>,
): Backend {
  const group = groupAt(arm, resourceGroup, context);
  return {
    cloud: cloudOf(arm, resourceGroup),
    account: `azure:${arm.host}:${arm.subscriptionId}`,
    leastGapMs: LEAST_GAP_MS,
    list: (signal) => listIn(group, signal),
    create: creatorOf({ group, ...forming(group) }),
    delete: removerOf(group),
    watch: (changed, signal) => followOperations(group, changed, signal),
  };
}

export async function openVms(config: VmConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const catalogue = catalogueOf(arm);
  const { resourceGroup, vmSize, location, market } = config;
  return {
    ...openMachines(arm, { resourceGroup, context }, ({ path }) => ({
      bodyFor: async (launch, name) => bodyFor(config, launch, { name, group: path }),
      advise: (fault, signal) => advised(fault, config, { catalogue, signal }),
    })),
    pricePerHour: (signal) => priceOf(arm, { vmSize, location, isSpot: market === 'spot' }, { context, signal }),
  };
}
