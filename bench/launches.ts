import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { SEED_DATA } from '../src/providers/aws/fake/seed-data.ts';
import provider from '../src/providers/aws/index.ts';
import type { Bench, Report } from './bench.ts';
import { type BenchAws, REGION, withAws } from './parts/aws.ts';
import { openBenchPlane } from './parts/plane.ts';
import { withFolder } from './parts/scratch.ts';
import { openHeld } from './parts/stores.ts';
import { untilMade } from './parts/until-made.ts';

const MACHINES = 1_000;
// As EC2 publishes it for an account in a region: 5 RunInstances at once and then 2 a second, for 1,000 machines at
// once and then 2 a second.
const BURST = 5;
const PER_SECOND = 2;

function documentOf(name: string, workers: number): string {
  const template = {
    region: REGION,
    launch_template_name: SEED_DATA.cpuTemplate,
    instance_type: 'c5.large',
    ami_id: SEED_DATA.image,
    subnet_id: SEED_DATA.subnets[0],
  };
  const scaling = { max_agents: workers, min_idle_agents: workers, max_idle_agents: workers };
  return JSON.stringify({ name, auto_scaler: { backend: { aws_launch_template: template }, ...scaling } });
}

/** All workers are asked for at once, by that many pools: until EC2 has made each. */
async function launch(aws: BenchAws, pools: number, report: Report): Promise<void> {
  await withFolder(async (url) => {
    const store = await openHeld(url);
    const plane = await openBenchPlane({ store, provider });
    const before = process.cpuUsage();
    const startMs = systemClock.monotonic();
    const all = untilMade(store, MACHINES);
    const names = Array.from({ length: pools }, (_, n) => `launched-${n}`);
    await Promise.all(names.map((name) => plane.pools.define(documentOf(name, MACHINES / pools), {}, SELF)));
    await all;
    const tookMs = systemClock.monotonic() - startMs;
    const { user, system } = process.cpuUsage(before);
    const { calls, refused, machines } = await aws.ask('take', undefined);
    const runs = calls.get('RunInstances') ?? 0;
    const leastS = Math.max(0, runs - BURST) / PER_SECOND;
    const variant = pools === 1 ? '1 pool' : `${pools} pools`;
    const others = [...calls]
      .filter(([action]) => action !== 'RunInstances')
      .map(([action, count]) => `${count} ${action}`);
    report.figure('launches-calls', runs, { variant, note: `beside them ${others.join(', ')}; ${refused} refused` });
    report.figure('launches-time', tookMs / 1_000, { variant, note: `the limits of the account take ${leastS} s` });
    report.figure('launches-cpu', (user + system) / 1_000, { variant });
    report.figure('launches-unaccounted', Math.abs(machines - store.view.workers.size), { variant });
    await plane.stop();
    await store.close();
  });
}

/** Each time another account, whose limits are unused. */
async function run(report: Report): Promise<void> {
  for (const pools of [1, 20]) await withAws(true, (aws) => launch(aws, pools, report));
}

export const bench: Bench = {
  order: 80,
  name: 'launches',
  measures: ['launches-calls', 'launches-time', 'launches-cpu', 'launches-unaccounted'],
  limitMs: 120_000,
  run,
};
