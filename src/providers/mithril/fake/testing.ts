// How tests get at the fake Mithril.
import { readMarkedName } from '#core/mark-name.ts';
import type { Backend } from '#core/provider.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import { openSceneOf, type Scene } from '../../../conformance/scene.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import { BidConfig } from '../config.ts';
import mithril from '../index.ts';
import { openSpotBids } from '../spot-bid/backend.ts';
import { bootable, type FakeBid, stateAt } from './bid.ts';
import { type FakeMithril, type FakeMithrilOptions, openFakeMithril, someLimits } from './cloud.ts';
import type { MithrilCall } from './wire.ts';

export const TOKEN = 'fkey_planted';
/** The seed's pool for eight H100. */
export const H100 = {
  projectId: 'proj_abc123',
  region: 'us-west-2',
  instanceType: '8xh100',
  limitPrice: 4.5,
  apiToken: TOKEN,
};

export type BidScene = Scene<FakeMithril>;

export const openScene = (options: Partial<FakeMithrilOptions> = {}): BidScene =>
  openSceneOf((clock) => openFakeMithril({ clock, ...options }));

export function openBackend(scene: BidScene, config: object = H100, context = scene.contextFor()): Promise<Backend> {
  return scene.during(openSpotBids(BidConfig.parse(config), context));
}

const isLaterPage = ({ action, query }: MithrilCall): boolean => action === 'list' && query.next_cursor !== undefined;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'server_error', status: 500 } } as const;

export const EXISTING: readonly string[] = ['Open', 'Allocated', 'running', 'Preempting', 'Paused'];

function machineOf(bid: FakeBid): SliceMachine {
  const read = readMarkedName(bid.name);
  const isHopeless = bid.timeline.length === 1;
  return {
    ...bootable(bid),
    name: read?.name ?? bid.name,
    mark: read?.mark,
    exists: (nowMs) => EXISTING.includes(stateAt(bid, nowMs)) && !isHopeless,
  };
}

/** Bids that others make in the project, some with a part of our mark. */
function addForeign(fake: FakeMithril, cluster: string): string[] {
  const names = [
    'training-run',
    'velda-0a1b2c3d-x7k2p',
    `m-gpu-pool-p1234567-0123456789`,
    `m-gpu-pool-p1234567-0123456789-${cluster}`,
    `m-gpu-pool-p1234567-0123456789-cluster9-0123456789ab`,
  ];
  return names.map((name) => fake.add(name).fid);
}

export const MITHRIL_SLICE: SliceSuite = {
  provider: mithril,
  backend: {
    kind: 'mithril_spot_bid',
    config: {
      project_id: H100.projectId,
      region: H100.region,
      instance_type: H100.instanceType,
      limit_price: H100.limitPrice,
      api_token: TOKEN,
      allocation_timeout: '60s',
    },
  },
  openCloud({ isLimited, ...options }) {
    const fake = openFakeMithril({ ...options, limits: isLimited ? someLimits : noLimits });
    return {
      fake,
      machines: () => fake.bids.map(machineOf),
      watch: (changed) => void fake.watch((bid) => changed(machineOf(bid))),
      addForeign: async (cluster) => addForeign(fake, cluster),
      refuseLate: fake.refuseLate,
    };
  },
  creation: 'create',
  removals: ['delete', 'update'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  refusedAfterMs: 120_000,
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: { kind: 'error', code: 'forbidden', message: 'You have no access to this project', status: 403 },
  named: 'api.mithril.ai',
  forbidden: [
    ['a variable', { instance_type: `\${MITHRIL_API_TOKEN}` }, 'instance_type'],
    ['an address of its own', { api_endpoint: 'https://evil.example' }, 'api_endpoint'],
  ],
};
