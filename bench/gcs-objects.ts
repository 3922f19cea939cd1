import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Source } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Store } from '#core/store.ts';
import provider from '../src/providers/gcp/index.ts';
import type { Bench, Report } from './bench.ts';
import { costOfGcloud } from './parts/gcloud.ts';
import { median } from './parts/numbers.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import { costOfSync, followSource, type SyncCost } from './parts/source-sync.ts';
import { openHeld } from './parts/stores.ts';
import type { GcsCalls } from './programs/gcs.ts';

const MANY = 10_000;
// A server asks every minute: what counts is how it goes once V8 has learned the way.
const ROUNDS = 15;
const BUCKET = 'velda-pool-configs';
const PREFIX = 'pools/';

/** As Terraform writes them, by `jsonencode`, in the folders of ten teams. */
const texts = (): ReadonlyMap<string, string> =>
  new Map(
    Array.from({ length: MANY }, (_, n) => {
      const name = `gpu-pool-${String(n).padStart(5, '0')}`;
      const scaling = { idle_decay: '5m', max_agents: 10, max_idle_agents: 2, min_idle_agents: 0 };
      const metadata = { description: 'GPUs of a team' };
      return [`${PREFIX}team-${n % 10}/${name}.json`, JSON.stringify({ auto_scaler: { ...scaling, metadata }, name })];
    }),
  );

function openSource(emulator: string): Promise<Source> {
  const { config, open } = provider.sources.gcs;
  return open(config.parse({ bucket: BUCKET, configPrefix: PREFIX }), {
    cluster: 'bench',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir: '/nonexistent',
    agentCommand: ['true'],
    variable: (name) => (name === 'STORAGE_EMULATOR_HOST' ? emulator : undefined),
  });
}

interface Sync extends SyncCost {
  readonly calls: number;
}

async function costOf(gcs: Program<GcsCalls>, store: Store, sync: () => Promise<unknown>): Promise<Sync> {
  await gcs.ask('take', undefined);
  const cost = await costOfSync(store, sync);
  return { ...cost, calls: await gcs.ask('take', undefined) };
}

function tellUnchanged(report: Report, rounds: readonly Sync[]): void {
  const cpus = rounds.map(({ cpuMs }) => cpuMs);
  const note = `median of ${rounds.length}, worst ${Math.max(...cpus).toFixed(0)} ms`;
  report.figure('gcs-unchanged-calls', Math.max(...rounds.map(({ calls }) => calls)));
  report.figure('gcs-unchanged-cpu', median(cpus), { note });
  report.figure('gcs-unchanged-time', median(rounds.map(({ tookMs }) => tookMs)) / 1_000);
  report.figure('gcs-unchanged-writes', Math.max(...rounds.map(({ writes }) => writes)));
  report.figure('gcs-unchanged-woken', Math.max(...rounds.map(({ woken }) => woken)));
}

/** The same objects listed by gcloud, which its user would do to see what has changed. */
async function tellPeer(report: Report, address: string, oursMs: number): Promise<void> {
  await withFolder(async (folder) => {
    const peer = await costOfGcloud({ address, bucket: BUCKET, prefix: PREFIX, folder });
    if (!peer) return;
    report.figure('gcs-gcloud-cpu', peer.cpuMs, { note: `${peer.lines} lines printed` });
    report.figure('gcs-unchanged-share', oursMs / peer.cpuMs);
  });
}

async function measure(gcs: Program<GcsCalls>, url: string, report: Report): Promise<void> {
  const store = await openHeld(url);
  const address = await gcs.ask('open', { bucket: BUCKET, texts: texts() });
  const source = await openSource(address);
  let opened: Awaited<ReturnType<typeof followSource>> | undefined;
  const sync = async (): Promise<unknown> => {
    opened ??= await followSource(store, { provider, kind: 'gcs', place: PREFIX, source });
    return opened.synced();
  };
  const cold = await costOf(gcs, store, sync);
  const rounds: Sync[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await costOf(gcs, store, sync));
  const { size } = store.view.pools;
  report.figure('gcs-cold-calls', cold.calls, { note: `${size} pools, 1,000 objects a page` });
  report.figure('gcs-cold-cpu', cold.cpuMs, { note: `${cold.writes} rows written` });
  report.figure('gcs-cold-time', cold.tookMs / 1_000);
  tellUnchanged(report, rounds);
  await tellPeer(report, address, median(rounds.map(({ cpuMs }) => cpuMs)));
  await opened?.stop();
  await store.close();
}

async function run(report: Report): Promise<void> {
  const gcs = startProgram<GcsCalls>('gcs');
  try {
    await withFolder((url) => measure(gcs, url, report));
  } finally {
    await gcs.end();
  }
}

export const bench: Bench = {
  order: 92,
  name: 'gcs-objects',
  measures: [
    'gcs-cold-calls',
    'gcs-cold-cpu',
    'gcs-cold-time',
    'gcs-unchanged-calls',
    'gcs-unchanged-cpu',
    'gcs-unchanged-time',
    'gcs-unchanged-writes',
    'gcs-unchanged-woken',
    'gcs-gcloud-cpu',
    'gcs-unchanged-share',
  ],
  limitMs: 180_000,
  run,
};
