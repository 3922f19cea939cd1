import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import provider from '../src/providers/nebius/index.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchPlane } from './parts/plane.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import { openHeld } from './parts/stores.ts';
import { untilMade } from './parts/until-made.ts';
import type { NebiusCalls } from './programs/nebius.ts';

const MACHINES = 1_000;
// Nebius publishes no limits: 100 requests at once and then 40 a second are what the provider keeps to.
const BURST = 100;
const PER_SECOND = 40;

function documentOf(): string {
  const instance = {
    parent_id: 'project-1',
    subnet_id: 'subnet-1',
    platform: 'gpu-h200-sxm',
    resource_preset: '1gpu-16vcpu-200gb',
  };
  const scaling = { max_agents: MACHINES, min_idle_agents: MACHINES, max_idle_agents: MACHINES };
  return JSON.stringify({
    name: 'launched',
    auto_scaler: { backend: { nebius_launch_template: instance }, ...scaling },
  });
}

/** All workers are asked for at once, by one pool: until Nebius has agreed to make each. */
async function launch(nebius: Program<NebiusCalls>, report: Report): Promise<void> {
  await withFolder(async (url) => {
    const store = await openHeld(url);
    const variables = { NEBIUS_ENDPOINT: await nebius.ask('open', undefined), NEBIUS_IAM_TOKEN: 'simulated' };
    const plane = await openBenchPlane({ store, provider, variables });
    const before = process.cpuUsage();
    const startMs = systemClock.monotonic();
    const all = untilMade(store, MACHINES);
    await plane.pools.define(documentOf(), {}, SELF);
    await all;
    const tookMs = systemClock.monotonic() - startMs;
    const { user, system } = process.cpuUsage(before);
    const { calls, refused, machines } = await nebius.ask('take', undefined);
    const creations = calls.get('create') ?? 0;
    const leastS = (creations - BURST) / PER_SECOND;
    const others = [...calls].filter(([action]) => action !== 'create');
    const note = `beside them ${others.map(([action, count]) => `${count} ${action}`).join(', ')}; ${refused} refused`;
    report.figure('nebius-launches-calls', creations, { note });
    report.figure('nebius-launches-time', tookMs / 1_000, { note: `the limits take ${leastS} s` });
    report.figure('nebius-launches-cpu', (user + system) / 1_000);
    report.figure('nebius-launches-unaccounted', Math.abs(machines - store.view.workers.size));
    await plane.stop();
    await store.close();
  });
}

async function run(report: Report): Promise<void> {
  const program = startProgram<NebiusCalls>('nebius');
  try {
    await launch(program, report);
  } finally {
    await program.end();
  }
}

export const bench: Bench = {
  order: 84,
  name: 'nebius-launches',
  measures: ['nebius-launches-calls', 'nebius-launches-time', 'nebius-launches-cpu', 'nebius-launches-unaccounted'],
  limitMs: 240_000,
  run,
};
