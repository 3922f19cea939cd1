// How the slice gets at container groups: the agent of a group is in its image, and its file in a secret volume.
import { nextStepMs } from '#fakes/timeline.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../../conformance/slice-world.ts';
import { markOf } from '../../../vm/marks.ts';
import type { FakeAzure } from '../../fake-azure.ts';
import { openSliceCloud, VM_SLICE } from '../../slice/testing.ts';
import { GROUP, SUBSCRIPTION } from '../../testing.ts';
import { type Containers, type FakeGroup, stateOf } from '../groups.ts';
import { IMAGE, LATER_GROUPS } from '../testing.ts';

// Nothing of a group that failed runs or is paid for; but it must not stay.
const FAILED_FOR_MS = 60_000;

function machineOf(one: FakeGroup, { finish }: Pick<Containers, 'finish'>): SliceMachine {
  return {
    id: one.name,
    name: one.name,
    mark: markOf(one),
    state(nowMs) {
      const state = stateOf(one, nowMs);
      if (state === 'Running') return 'running';
      return state === 'Creating' || state === 'Failed' ? 'off' : 'gone';
    },
    nextChangeMs: (nowMs) => nextStepMs(one.timeline, nowMs),
    scripts: () => [...one.files.values()],
    // An agent that came to its end leaves with success, and is not started again.
    poweredOff: () => finish(one, 0),
    exists(nowMs) {
      const state = stateOf(one, nowMs);
      if (one.failure) return state === 'Failed' && nowMs - one.madeAtMs > FAILED_FOR_MS;
      return state === 'Creating' || state === 'Running';
    },
  };
}

const PROPERTIES = { osType: 'Linux', containers: [] };

/** Container groups that others make, some with a part of our mark. */
function addForeign({ make }: Containers, cluster: string): string[] {
  const most = { 'muster-pool': 'p', 'muster-shape': 's', 'muster-name': 'x' };
  const tagSets = [
    {},
    most,
    { ...most, 'muster-cluster': 'cluster9' },
    { 'muster-cluster': cluster },
  ] as readonly Readonly<Record<string, string>>[];
  const own = {
    location: 'westeurope',
    properties: PROPERTIES,
    files: new Map(),
    container: 'web',
    cores: 1,
    isPublic: true,
  };
  return tagSets.map((tags, at) => make(GROUP, `by-hand-${at}`, { ...own, tags }).made.name);
}

export const containersIn = (fake: unknown): Containers => (fake as FakeAzure).world.containers;

/** Pools of container groups. */
export const GROUP_SLICE: SliceSuite = {
  ...VM_SLICE,
  backend: {
    kind: 'azure_container_instance',
    config: { subscription_id: SUBSCRIPTION, resource_group: GROUP, location: 'westeurope', image: IMAGE },
  },
  openCloud(options) {
    const cloud = openSliceCloud(options);
    const containers = containersIn(cloud.fake);
    return {
      ...cloud,
      machines: () => containers.all.map((one) => machineOf(one, containers)),
      watch: (changed) => void containers.watch((one) => changed(machineOf(one, containers))),
      addForeign: async (cluster) => addForeign(containers, cluster),
    };
  },
  creation: 'management.containerPut',
  // Changes nothing: a group is looked for before it is made, and asked by itself whether its container still runs.
  additions: ['management.containerGet'],
  removals: ['management.containerDelete'],
  laterPage: LATER_GROUPS,
  load: async () =>
    void (await Promise.all([
      import('../../../container-instance/backend.ts'),
      import('../../../app-configuration/source.ts'),
    ])),
  forbidden: [
    ['a variable', { image: `\${AZURE_CLIENT_SECRET}` }, 'image'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
  ],
  excuses: {
    boots: 'the image of its containers brings the agent',
    thousand: 'a subscription may create 300 container groups an hour',
  },
};
