import type { Backend, Context } from '#core/provider.ts';
import type { Price } from '../api.ts';
import { mithrilAt } from '../client.ts';
import type { BidConfig } from '../config.ts';
import { offeredBy, typeIn } from '../instance-types.ts';
import { accountAt, look } from './account.ts';
import { changerOf } from './change.ts';
import { creatorOf } from './create.ts';
import { machineOf } from './machine.ts';

const CENTS = 100;

export async function openSpotBids(config: BidConfig, context: Context): Promise<Backend> {
  const api = mithrilAt(config, context);
  const cloud = `mithril:${api.host}:${config.projectId}`;
  const account = accountAt(cloud, config.projectId, context);
  account.longestPatienceMs = Math.max(account.longestPatienceMs, config.allocationTimeout);
  const typeId = async (signal: AbortSignal): Promise<string> => typeIn(await offeredBy(api, signal), config);
  const backend: Backend = {
    cloud,
    async list(signal) {
      const { bids } = await look(account, api, signal);
      return bids.map((one) => machineOf(account, one));
    },
    create: creatorOf({ account, api, config, typeId }),
    delete: changerOf(account, api, 'delete'),
    async pricePerHour(signal) {
      const query = { instance_type: await typeId(signal), region: config.region };
      const { spot_price_cents: cents } = await api.ask<Price>({ path: '/pricing/current', query }, signal);
      return typeof cents === 'number' ? cents / CENTS : undefined;
    },
  };
  if (config.maxSuspendedBids === 0) return backend;
  const [suspend, resume] = [changerOf(account, api, 'suspend'), changerOf(account, api, 'resume')];
  return { ...backend, park: { most: config.maxSuspendedBids, suspend, resume } };
}
