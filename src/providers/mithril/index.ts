// Loaded by every server: whatever only a pool or a source on Mithril needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { AutoConfig, placeOf } from './auto/config.ts';
import { BidConfig } from './config.ts';

export default {
  id: 'mithril',
  title: 'Mithril',
  variables: ['MITHRIL_API_TOKEN', 'MITHRIL_API_URL'],
  backends: {
    mithril_spot_bid: kind({
      summary: 'Spot bids of Mithril, one instance each.',
      config: BidConfig,
      example: {
        project_id: 'proj_abc123',
        region: 'us-central1-b',
        instance_type: '8xh100',
        limit_price: 4.5,
        ssh_key_ids: ['key_xyz'],
        max_suspended_bids: 2,
        allocation_timeout: '10m',
      },
      trust: 'any source',
      batch: 20,
      hasPrices: true,
      boots: 'script',
      open: async (...given) => (await import('./spot-bid/backend.ts')).openSpotBids(...given),
    }),
  },
  sources: {
    mithril_auto: kind({
      summary: 'Defines a pool of spot bids for each entry of `pool_details`.',
      config: AutoConfig,
      example: {
        project_id: 'proj_abc123',
        region: 'us-central1-b',
        autoscaler_config: { max_agents: 5 },
        pool_details: [
          { pool_name: 'h100-8x', instance_type: '8xh100', limit_price: 4.5 },
          { pool_name: 'a100-8x', instance_type: '8xa100', limit_price: 3.2, autoscaler_config: { max_agents: 2 } },
        ],
        max_suspended_bids: 2,
      },
      trust: 'any source',
      place: placeOf,
      isOperators: true,
      open: async (...given) => (await import('./auto/source.ts')).openAuto(...given),
    }),
  },
} satisfies Provider;
