import type { Backend, Context } from '#core/provider.ts';
import { nebiusAt } from '../client.ts';
import type { InstanceConfig } from '../config.ts';
import { changerOf } from './change.ts';
import { creatorOf } from './create.ts';
import { listInstances } from './listing.ts';
import { pricePerHour } from './price.ts';
import { imageOf } from './request.ts';

export async function openInstances(config: InstanceConfig, context: Context): Promise<Backend> {
  const api = nebiusAt(config, context);
  const { parentId, maxDiskPoolSize: most } = config;
  const change = changerOf(api, parentId, context.cluster);
  return {
    cloud: `nebius:${api.host}:${parentId}`,
    list: (signal) => listInstances(api, { parentId, context, signal }),
    ...creatorOf(api, config),
    delete: change('delete'),
    form: (signal) => imageOf(api, config, signal),
    pricePerHour: async (signal) => pricePerHour(api, config, { image: await imageOf(api, config, signal), signal }),
    ...(most > 0 && { park: { most, suspend: change('suspend'), resume: change('resume') } }),
  };
}
