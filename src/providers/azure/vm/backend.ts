import { Fault } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import { advised } from '../arm/catalogue.ts';
import { armAt } from '../arm/client.ts';
import { newestWanted } from '../gallery/versions.ts';
import { bodyFor } from './body.ts';
import type { VmConfig } from './config.ts';
import { creatorOf, type Forming } from './create.ts';
import { type Group, groupAt } from './group.ts';
import { imageFor } from './image.ts';
import { listMachines } from './listing.ts';
import { makeNetwork, makesNetwork, removeNetwork } from './own-network.ts';
import { priceOf } from './prices.ts';
import { removerOf } from './remove.ts';

/** Machines of one resource group, however they are formed. */
export function openMachines(group: Group, forming: Forming): Backend {
  const { arm, cloud } = group;
  return {
    cloud,
    account: `azure:${arm.host}:${arm.subscriptionId}`,
    list: (signal) => listMachines(group, signal),
    ...creatorOf(group, forming),
    delete: removerOf(group),
  };
}

/** Nothing is made in a group that is not there, and Muster makes no groups. */
export function groupMissing(
  { resourceGroup, location }: Pick<VmConfig, 'resourceGroup' | 'location'>,
  { kind, message, cause }: Fault,
): Fault | undefined {
  if (kind !== 'missing' || !message.includes('ResourceGroupNotFound')) return undefined;
  const remedy = `Create it (az group create --name ${resourceGroup} --location ${location}), or correct resource_group.`;
  return new Fault(kind, message, { cause, remedy });
}

export async function openVms(config: VmConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const { resourceGroup, vmSize, location, market } = config;
  const group = groupAt(arm, resourceGroup, context);
  return {
    ...openMachines(group, {
      async bodies(launch, signal) {
        const image = await imageFor(arm, config, signal);
        return (name) => bodyFor({ ...config, image }, launch, { name, group });
      },
      ...(makesNetwork(config) && {
        prepare: (launch, name, signal) => makeNetwork(group, { config, launch, name }, signal),
        undo: (name, signal) => removeNetwork(group, name, signal),
      }),
      advise: async (fault, signal) => groupMissing(config, fault) ?? (await advised(arm, fault, config, signal)),
    }),
    ...(newestWanted(config.image) !== undefined && { form: (signal) => imageFor(arm, config, signal) }),
    pricePerHour: (signal) => priceOf(arm, { vmSize, location, isSpot: market === 'spot' }, { context, signal }),
  };
}
