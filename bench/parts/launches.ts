// 1,000 workers of one pool on a simulated cloud, asked for at once.
import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import type { Provider } from '#core/provider.ts';
import type { Bench, Report } from '../bench.ts';
import type { LaunchCloud } from '../launch-measures.ts';
import type { LaunchedCloudCalls } from '../programs/launched-cloud.ts';
import { openBenchPlane } from './plane.ts';
import { type Program, startProgram } from './program.ts';
import { withFolder } from './scratch.ts';
import { openHeld } from './stores.ts';
import { untilMade } from './until-made.ts';

export interface LaunchedBackend {
  /** Where a cloud has several. */
  readonly variant?: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The action of the fake that makes machines. */
  readonly creation: string;
}

export interface LaunchesOptions {
  readonly cloud: LaunchCloud;
  readonly order: number;
  readonly provider: Provider;
  readonly backends: readonly LaunchedBackend[];
  /** What the cloud lets through of creations: so many at once, and then so many a second. */
  readonly limit: { readonly burst: number; readonly perSecond: number };
  /** How late its listings show what was made. */
  readonly lagMs?: number;
  /** By which the server finds the simulated cloud. */
  variables(address: string): Readonly<Record<string, string>>;
}

const MACHINES = 1_000;

function documentOf({ kind, config }: LaunchedBackend): string {
  const scaling = { max_agents: MACHINES, min_idle_agents: MACHINES, max_idle_agents: MACHINES };
  return JSON.stringify({ name: 'launched', auto_scaler: { backend: { [kind]: config }, ...scaling } });
}

/** Until the cloud has agreed to make each worker. */
async function launch(
  { cloud, provider, limit, lagMs = 0, variables }: LaunchesOptions,
  backend: LaunchedBackend,
  { program, report }: { readonly program: Program<LaunchedCloudCalls>; readonly report: Report },
): Promise<void> {
  const { creation, variant } = backend;
  await withFolder(async (url) => {
    const store = await openHeld(url);
    const address = await program.ask('open', cloud);
    const plane = await openBenchPlane({ store, provider, variables: variables(address) });
    const before = process.cpuUsage();
    const startMs = systemClock.monotonic();
    const all = untilMade(store, MACHINES);
    await plane.pools.define(documentOf(backend), {}, SELF);
    await all;
    const tookMs = systemClock.monotonic() - startMs;
    const { user, system } = process.cpuUsage(before);
    await systemClock.sleep(lagMs);
    const { calls, refused, machines } = await program.ask('take', undefined);
    const creations = calls.get(creation) ?? 0;
    const leastS = Math.max(0, creations - limit.burst) / limit.perSecond;
    const others = [...calls].filter(([action]) => action !== creation);
    const note = `beside them ${others.map(([action, count]) => `${count} ${action}`).join(', ')}; ${refused} refused`;
    report.figure(`${cloud}-launches-calls`, creations, { variant, note });
    report.figure(`${cloud}-launches-time`, tookMs / 1_000, { variant, note: `the limits take ${leastS} s` });
    report.figure(`${cloud}-launches-cpu`, (user + system) / 1_000, { variant });
    report.figure(`${cloud}-launches-unaccounted`, Math.abs(machines - store.view.workers.size), { variant });
    await plane.stop();
    await store.close();
  });
}

export function launchesOn(options: LaunchesOptions): Bench {
  const { cloud, order, backends } = options;
  return {
    order,
    name: `${cloud}-launches`,
    measures: [
      `${cloud}-launches-calls`,
      `${cloud}-launches-time`,
      `${cloud}-launches-cpu`,
      `${cloud}-launches-unaccounted`,
    ],
    limitMs: 240_000 * backends.length,
    /** Each time another account, whose limits nobody has used. */
    async run(report) {
      for (const backend of backends) {
        const program = startProgram<LaunchedCloudCalls>('launched-cloud');
        try {
          await launch(options, backend, { program, report });
        } finally {
          await program.end();
        }
      }
    },
  };
}
