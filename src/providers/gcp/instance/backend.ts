import type { Backend, Context } from '#core/provider.ts';
import { accountOf, computeAt } from '../compute/client.ts';
import { changerOf } from './change.ts';
import type { InstanceConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { imageOf } from './image.ts';
import { listInstances } from './listing.ts';
import { machineOf } from './machine.ts';

/** Instances that we make ourselves, without a group. */
export async function openInstances(config: InstanceConfig, context: Context): Promise<Backend> {
  const { cluster } = context;
  const compute = computeAt(config.project, config.endpoint, context);
  const account = accountOf(compute);
  const change = changerOf(compute, config.zone, cluster);
  const { maxStoppedInstances: most, provisioningModel } = config;
  return {
    cloud: `${account}:instances`,
    account,
    list: async (signal) =>
      (await listInstances(compute, cluster, signal)).flatMap((instance) => machineOf(instance) ?? []),
    ...creatorOf(compute, config, cluster),
    delete: change('delete'),
    form: (signal) => imageOf(compute, config, signal),
    ...(most > 0 &&
      provisioningModel !== 'spot' && { park: { most, suspend: change('stop'), resume: change('start') } }),
  };
}
