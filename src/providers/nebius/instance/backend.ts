import type { Backend, Context } from '#core/provider.ts';
import { nebiusAt } from '../client.ts';
import type { InstanceConfig } from '../config.ts';
import { advised } from '../platforms.ts';
import { accountAt, look } from './account.ts';
import { changerOf } from './change.ts';
import { creatorOf } from './create.ts';
import { imageOf } from './images.ts';
import { findFailures, followOperations } from './late.ts';
import { machineOf } from './marks.ts';
import { pricePerHour } from './price.ts';

// A refusal that an operation told of is passed on by a listing: soon, and no more often where listings take long.
const LEAST_GAP_MS = 500;

export async function openInstances(config: InstanceConfig, context: Context): Promise<Backend> {
  const api = nebiusAt(config, context);
  const { parentId } = config;
  const cloud = `nebius:${api.host}:${parentId}`;
  const account = accountAt(cloud, parentId, context);
  const image = (signal: AbortSignal): Promise<string> => imageOf(api, config, signal);
  const backend: Backend = {
    cloud,
    leastGapMs: LEAST_GAP_MS,
    async list(signal) {
      const snapshot = await look(account, api, signal);
      await findFailures(account, api, { snapshot, signal });
      const { failed, reasons } = account;
      const seen = snapshot.instances.filter(({ metadata }) => !failed.has(metadata?.name ?? ''));
      const machines = seen.flatMap((one) => machineOf(one, reasons.get(one.metadata?.id ?? '')) ?? []);
      return [...machines, ...failed.values()];
    },
    create: creatorOf({
      account,
      api,
      config,
      image,
      advise: (fault, signal) => advised(fault, config, { api, parentId, signal }),
    }),
    delete: changerOf(account, api, 'delete'),
    form: image,
    pricePerHour: async (signal) => pricePerHour(api, config, { image: await image(signal), signal }),
    watch: (changed, signal) => followOperations(account, changed, signal),
  };
  if (config.maxDiskPoolSize === 0) return backend;
  const [suspend, resume] = [changerOf(account, api, 'suspend'), changerOf(account, api, 'resume')];
  return { ...backend, park: { most: config.maxDiskPoolSize, suspend, resume } };
}
