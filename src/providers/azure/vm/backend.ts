import type { Backend, Context } from '#core/provider.ts';
import { advised } from '../arm/catalogue.ts';
import { armAt } from '../arm/client.ts';
import { bodyFor } from './body.ts';
import type { VmConfig } from './config.ts';
import { creatorOf, type Forming } from './create.ts';
import { type Group, groupAt } from './group.ts';
import { imageFor } from './image.ts';
import { listMachines } from './listing.ts';
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

export async function openVms(config: VmConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const { resourceGroup, vmSize, location, market } = config;
  const group = groupAt(arm, resourceGroup, context);
  return {
    ...openMachines(group, {
      async bodies(launch, signal) {
        const image = await imageFor(arm, config, signal);
        return (name) => bodyFor({ ...config, image }, launch, { name, group: group.path });
      },
      advise: (fault, signal) => advised(arm, fault, config, signal),
    }),
    pricePerHour: (signal) => priceOf(arm, { vmSize, location, isSpot: market === 'spot' }, { context, signal }),
  };
}
