import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { loadServerConfig } from '#config/load.ts';
import { systemClock } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import { configuredSources } from '../src/program/sources.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import { LARGE, poolName, SMALL } from './parts/fleet.ts';
import { openBenchPlane } from './parts/plane.ts';
import { withFolder } from './parts/scratch.ts';
import { type Stall, threadCpuMs, watchStalls } from './parts/stalls.ts';
import { openHeld } from './parts/stores.ts';

const ROUNDS = 3;

/** A manual pool costs nothing but its definition: what is measured is the way of that. */
const poolLines = (name: string, text: string): string =>
  [
    `  - name: ${name}`,
    `    description: ${text} # which people read`,
    '    labels: { team: ml, stage: prod }',
    '    auto_scaler:',
    '      max_agents: 20',
    '      min_idle_agents: 1',
    '      max_idle_agents: 5',
    '      idle_decay: 5m',
    '',
  ].join('\n');

const fileOf = (pools: number, text: string): string =>
  `agent_pools:\n${Array.from({ length: pools }, (_, at) => poolLines(poolName(at), text)).join('')}`;

interface Round {
  readonly stall: Stall;
  readonly tookMs: number;
  readonly cpuMs: number;
}

/** Reads a file of so many pools again and again, in a server that has them; each time all of them have changed. */
async function reloads(folder: string, pools: number, report: Report): Promise<readonly Round[]> {
  const { provider } = openBenchCloud();
  const kinds = knownKinds([provider]);
  const store = await openHeld(join(folder, 'store'));
  const plane = await openBenchPlane({ store, provider });
  const sources = configuredSources({ kinds, context: {} as Context, gate: plane.gate });
  const file = join(folder, 'muster.yaml');
  const environment = readEnvironment({});

  async function reload(text: string): Promise<Round> {
    writeFileSync(file, fileOf(pools, text));
    const stalls = watchStalls();
    const [startMs, startCpuMs] = [systemClock.monotonic(), threadCpuMs()];
    const { config } = await loadServerConfig({ named: file, environment, cpus: 2, kinds: async () => kinds });
    const opened = await sources.open(config);
    await new Promise<void>((resolve) => systemClock.soon(resolve));
    sources.use(opened);
    plane.pools.setSources(opened);
    await plane.pools.synced('config', new AbortController().signal);
    const [tookMs, cpuMs] = [systemClock.monotonic() - startMs, threadCpuMs() - startCpuMs];
    return { stall: stalls.stop(), tookMs, cpuMs };
  }

  const rounds: Round[] = [];
  for (let round = 0; round < (report.isQuick ? 1 : ROUNDS) + 1; round++)
    rounds.push(await reload(`Version ${round}.`));
  await plane.stop();
  await store.close();
  // The first one starts from nothing, as a server does.
  return rounds.slice(1);
}

export const bench: Bench = {
  order: 95,
  name: 'reload',
  measures: ['reload-time', 'reload-cpu', 'reload-stall', 'reload-stall-cpu'],
  limitMs: 120_000,
  async run(report) {
    const { pools } = report.isQuick ? SMALL : LARGE;
    const rounds = await withFolder((folder) => reloads(folder, pools, report));
    const worst = (of: (round: Round) => number): number => Math.max(...rounds.map(of));
    report.figure('reload-time', worst(({ tookMs }) => tookMs) / 1_000);
    report.figure(
      'reload-cpu',
      worst(({ cpuMs }) => cpuMs),
    );
    report.figure(
      'reload-stall',
      worst(({ stall }) => stall.wallMs),
    );
    report.figure(
      'reload-stall-cpu',
      worst(({ stall }) => stall.cpuMs),
    );
  },
};
