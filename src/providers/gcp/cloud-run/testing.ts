// How the laws of computers get at Cloud Run.
import { MINUTE_MS } from '#core/clock.ts';
import type { SliceCloud } from '#sim/slice/cloud.ts';
import type { ComputerSuite } from '../../../conformance/computers-world.ts';
import { PROJECT, REGION } from '../fake/compute/seed-data.ts';
import type { FakeGcp } from '../fake/fake-gcp.ts';
import { isGone, nameOf, revisionOf, shown } from '../fake/run/service.ts';
import { endService } from '../fake/run/state.ts';
import { IMAGE } from '../fake/run/testing/scene.ts';
import { fakesOf, RUN_SLICE } from '../fake/run/testing/slices.ts';

const runOf = (cloud: SliceCloud) => (fakesOf.get(cloud) as FakeGcp).world.run;
const error = (code: string, status: number, message = code) => ({ kind: 'error', code, message, status }) as const;

export const CLOUD_RUN_COMPUTERS: ComputerSuite = {
  ...RUN_SLICE,
  request: () => ({ platform: 'gcp_cloud_run', options: { project_id: PROJECT, region: REGION, image: IMAGE } }),
  held(cloud) {
    const { services, clock } = runOf(cloud);
    const left = services.filter((one) => !isGone(one, clock.now()));
    return left.flatMap((one) => [`service ${nameOf(one)}`, `revision ${revisionOf(one)}`]);
  },
  shown: (cloud) => [
    JSON.stringify(runOf(cloud).services.map((one) => shown(one, 0))),
    JSON.stringify(cloud.fake.calls),
  ],
  refusals: [
    [
      'quota',
      error('INVALID_ARGUMENT', 400, 'Quota violated: CpuAllocPerProjectRegion requested: 24000 allowed: 20000'),
    ],
    ['denied', error('PERMISSION_DENIED', 403)],
    ['throttled', error('RATE_LIMIT_EXCEEDED', 429)],
  ],
  vanish(cloud, { id }) {
    const run = runOf(cloud);
    const found = run.services.find(({ uid }) => uid === id);
    if (found) endService(run, found);
  },
  // Cloud Run starts another container in place of one that has ended, each for a moment.
  endsItself: false,
  grownWithinMs: MINUTE_MS,
  shortStride: 15,
};
