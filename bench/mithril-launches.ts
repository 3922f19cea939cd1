import provider from '../src/providers/mithril/index.ts';
import { launchesOn } from './parts/launches.ts';

export const bench = launchesOn({
  cloud: 'mithril',
  order: 86,
  provider,
  backends: [
    {
      kind: 'mithril_spot_bid',
      config: { project_id: 'proj_abc123', region: 'us-west-2', instance_type: '8xh100', limit_price: 4.5 },
      creation: 'create',
    },
  ],
  // Mithril publishes no limits: these are what the provider keeps to.
  limit: { burst: 100, perSecond: 40 },
  variables: (address) => ({ MITHRIL_API_URL: address, MITHRIL_API_TOKEN: 'simulated' }),
});
