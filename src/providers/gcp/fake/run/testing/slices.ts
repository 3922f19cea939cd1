// The fake Cloud Run behind a world of the slice.
import { MINUTE_MS } from '#core/clock.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceCloud, SliceCloudOptions, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../../conformance/slice-world.ts';
import { AGENT_CONFIG_VARIABLE } from '../../../cloud-run/config.ts';
import { readLabels } from '../../../compute/marks.ts';
import gcp from '../../../index.ts';
import { PROJECT, REGION } from '../../compute/seed-data.ts';
import { type FakeGcp, openFakeGcp } from '../../fake-gcp.ts';
import { type FakeService, isLiving, nextChangeMs, stateAt, variableIn } from '../service.ts';
import { endContainer, makeService, publishedRunLimits, type RunState } from '../state.ts';
import { LATER_PAGE, SERVICE } from './scene.ts';

function machineOf(service: FakeService, run: RunState): SliceMachine {
  return {
    // An agent for each container, which knows nothing of the one before.
    id: service.containers === 1 ? service.uid : `${service.uid}/${service.containers}`,
    name: service.id,
    mark: readLabels(service.wanted.labels),
    state(nowMs) {
      const state = stateAt(service, nowMs);
      if (state === 'GONE' || state === 'DELETING') return 'gone';
      return state === 'READY' && !service.isEnding ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextChangeMs(service, nowMs),
    scripts: () => [variableIn(service, AGENT_CONFIG_VARIABLE)],
    exists: (nowMs) => isLiving(service, nowMs),
    poweredOff: () => endContainer(run, service),
  };
}

function openFake({ clock, isLimited, pageSize, lagMs, bootMs }: SliceCloudOptions): FakeGcp {
  const fake = openFakeGcp(clock);
  const { run } = fake.world;
  Object.assign(run.behaviour, { pageSize, lagMs, bootMs });
  run.limits = isLimited ? publishedRunLimits : noLimits;
  fake.world.machineAccount = `muster@${PROJECT}.iam.gserviceaccount.com`;
  return fake;
}

/** Services that others have in the region, some with a part of our mark. */
function addServices({ world }: FakeGcp, cluster: string): string[] {
  const most = { 'muster-pool': 'p', 'muster-shape': 's' };
  const labelSets = [
    {},
    { team: 'ml' },
    most,
    { ...most, 'muster-cluster': 'cluster9' },
    { 'muster-cluster': cluster },
  ];
  return labelSets.map((labels, at) => {
    const place = { project: PROJECT, region: REGION, id: `theirs-${at}` };
    return makeService(world.run, place, { labels, template: { containers: [{ image: 'hello' }] } }).uid;
  });
}

/** The fake behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeGcp>();

export const RUN_SLICE: SliceSuite = {
  provider: gcp,
  backend: { kind: 'gcp_cloud_run', config: SERVICE },
  openCloud(options) {
    const fake = openFake(options);
    const { run } = fake.world;
    const cloud: SliceCloud = {
      fake,
      machines: () => run.services.map((service) => machineOf(service, run)),
      watch: (changed) => void run.watch((service) => changed(machineOf(service, run))),
      addForeign: async (cluster) => addServices(fake, cluster),
      refuseLate(count) {
        run.late = count;
      },
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  async load() {
    await import('../../../cloud-run/backend.ts');
  },
  creation: 'run.services.create',
  removals: ['run.services.delete'],
  // One call each.
  mostCalls: { creation: 1_000, removal: 1_000 },
  // At two and a half services a second.
  grownWithinMs: 7 * MINUTE_MS,
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: {
    kind: 'error',
    code: 'PERMISSION_DENIED',
    message: "Permission 'run.services.create' denied on resource",
    status: 403,
  },
  named: /google|gcp:my-project/,
  forbidden: [
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
    ['a variable', { image: `\${GOOGLE_APPLICATION_CREDENTIALS}` }, 'image'],
  ],
  excuses: { boots: 'the image of its containers brings the agent' },
};
