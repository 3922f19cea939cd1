import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import provider from '../src/providers/azure/index.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchPlane } from './parts/plane.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import { openHeld } from './parts/stores.ts';
import { untilMade } from './parts/until-made.ts';
import type { AzureCalls } from './programs/azure.ts';

const MACHINES = 1_000;
// As Resource Manager publishes it for an identity in a subscription: 200 writes at once and then 10 a second.
const BURST = 200;
const PER_SECOND = 10;
const LAG_MS = 3_000;

function documentOf(): string {
  const machine = {
    subscription_id: '00000000-0000-0000-0000-000000000001',
    resource_group: 'velda',
    location: 'westeurope',
    vm_size: 'Standard_D2s_v5',
    subnet_id: 'velda-network/agents',
  };
  const scaling = { max_agents: MACHINES, min_idle_agents: MACHINES, max_idle_agents: MACHINES };
  return JSON.stringify({ name: 'launched', auto_scaler: { backend: { azure_vm: machine }, ...scaling } });
}

/** All workers are asked for at once, by one pool: until Azure has agreed to make each. */
async function launch(azure: Program<AzureCalls>, report: Report): Promise<void> {
  await withFolder(async (url) => {
    const store = await openHeld(url);
    const variables = { AZURE_RESOURCE_MANAGER_URL: await azure.ask('open', undefined) };
    const plane = await openBenchPlane({ store, provider, variables });
    const before = process.cpuUsage();
    const startMs = systemClock.monotonic();
    const all = untilMade(store, MACHINES);
    await plane.pools.define(documentOf(), {}, SELF);
    await all;
    const tookMs = systemClock.monotonic() - startMs;
    const { user, system } = process.cpuUsage(before);
    await systemClock.sleep(LAG_MS);
    const { calls, refused, machines } = await azure.ask('take', undefined);
    const puts = calls.get('management.vmPut') ?? 0;
    const leastS = (puts - BURST) / PER_SECOND;
    const others = [...calls].filter(([action]) => action !== 'management.vmPut');
    const note = `beside them ${others.map(([action, count]) => `${count} ${action}`).join(', ')}; ${refused} refused`;
    report.figure('azure-launches-calls', puts, { note });
    report.figure('azure-launches-time', tookMs / 1_000, { note: `the limits of the subscription take ${leastS} s` });
    report.figure('azure-launches-cpu', (user + system) / 1_000);
    report.figure('azure-launches-unaccounted', Math.abs(machines - store.view.workers.size));
    await plane.stop();
    await store.close();
  });
}

async function run(report: Report): Promise<void> {
  const program = startProgram<AzureCalls>('azure');
  try {
    await launch(program, report);
  } finally {
    await program.end();
  }
}

export const bench: Bench = {
  order: 82,
  name: 'azure-launches',
  measures: ['azure-launches-calls', 'azure-launches-time', 'azure-launches-cpu', 'azure-launches-unaccounted'],
  limitMs: 240_000,
  run,
};
