import type { Backend, Context } from '#core/provider.ts';
import type { Price } from '../api.ts';
import { mithrilAt } from '../client.ts';
import type { BidConfig } from '../config.ts';
import { changerOf } from './change.ts';
import { creatorOf, typeId } from './create.ts';
import { listBids, machineOf } from './listing.ts';

const CENTS = 100;

export async function openSpotBids(config: BidConfig, context: Context): Promise<Backend> {
  const api = mithrilAt(config, context);
  const { cluster, clock } = context;
  const { projectId: project, region, maxSuspendedBids: most } = config;
  const change = changerOf(api, project, cluster);
  return {
    cloud: `mithril:${api.host}:${project}`,
    list: async (signal) =>
      (await listBids(api, { project, cluster, signal })).map((one) => machineOf(one, clock.now())),
    ...creatorOf(api, config, cluster),
    delete: change('delete'),
    async pricePerHour(signal) {
      const query = { instance_type: await typeId(api, config, signal), region };
      const { spot_price_cents: cents } = await api.ask<Price>({ path: '/pricing/current', query }, signal);
      return typeof cents === 'number' ? cents / CENTS : undefined;
    },
    ...(most > 0 && { park: { most, suspend: change('suspend'), resume: change('resume') } }),
  };
}
