import type { Backend, Context } from '#core/provider.ts';
import { advised } from '../arm/catalogue.ts';
import { armAt } from '../arm/client.ts';
import { groupMissing } from '../vm/backend.ts';
import type { ContainerInstanceConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { listMachines } from './listing.ts';
import { placeAt } from './place.ts';
import { removerOf } from './remove.ts';

/** Container groups of one resource group, each with one container in which an agent runs. */
export async function openContainerInstances(config: ContainerInstanceConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const place = placeAt(arm, config.resourceGroup, context);
  return {
    cloud: place.cloud,
    account: `azure:${arm.host}:${arm.subscriptionId}`,
    list: (signal) => listMachines(place, signal),
    ...creatorOf({
      place,
      config,
      advise: async (fault, signal) =>
        groupMissing(config, fault) ?? (await advised(arm, fault, { location: config.location }, signal)),
    }),
    delete: removerOf(place),
  };
}
