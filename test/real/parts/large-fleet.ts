// A program: the API and the dashboard of 10,000 pools and 100,000 workers, of which 60 rows change each second.
// `fork` it with a folder; it sends its address and a login link, and for each message what it has used since the last.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '#core/clock.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { anAgent, aWorker, poolWithSecret, row } from '../../../src/api/testing/rows.ts';
import { apiWorld } from '../../../src/api/testing/world.ts';
import type { LoginLink } from '../../../src/api/wire/token.ts';
import { openDashboard } from '../../../src/installer/dashboard.ts';

const POOLS = 10_000;
const WORKERS_A_POOL = 10;
const CHANGES_A_SECOND = 60;
/** Every second change is of a pool on the first screen. */
const ON_SCREEN = 40;

/** What the program has used since it was last asked. */
export interface Used {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly longestStallMs: number;
}

export interface LargeFleet {
  readonly origin: string;
  readonly links: readonly string[];
}

const [folder = '', browsers = '1'] = process.argv.slice(2);
// Pages of a list are in the order of names.
const names = Array.from({ length: POOLS }, (_, at) => `pool-${String(at).padStart(5, '0')}`);
const pools = names.map((name) => poolWithSecret(name));
const workers = pools.flatMap(({ id, name }) =>
  Array.from({ length: WORKERS_A_POOL }, (_, at) => aWorker(`m-${name}-${at}`, id, { createdAt: 1, joinedAt: 1 })),
);
const world = await apiWorld({
  clock: new VirtualClock(systemClock.now()),
  over: { clock: systemClock, webFiles: openDashboard({ cache: folder, version: 'figures' }) },
  rows: [
    ...pools.map((pool) => row('pools', pool)),
    ...workers.map((worker) => row('workers', worker)),
    ...workers.map(({ id, pool }) => row('agents', anAgent(id, pool))),
  ],
});

let changes = 0;
function change(): void {
  changes += 1;
  const pool = changes % 2 === 0 ? changes % ON_SCREEN : (changes * 7_919) % POOLS;
  const worker = workers[pool * WORKERS_A_POOL + (changes % WORKERS_A_POOL)];
  if (!worker) return;
  const { drain, ...rest } = world.deps.store.view.workers.get(worker.id) ?? worker;
  const next = drain ? rest : { ...rest, drain: { at: systemClock.now(), why: 'for the figure' } };
  void world.deps.store.commit([row('workers', next)]);
}
const tick = (): void => {
  change();
  systemClock.alarm(1_000 / CHANGES_A_SECOND, tick);
};

const server = createServer((socket) => world.api.server.emit('connection', socket));
server.listen(0, '127.0.0.1', async () => {
  const links: string[] = [];
  for (let at = 0; at < Number(browsers); at++) {
    const answer = await world.call('POST', '/api/v1/login-links', { as: 'viewer' });
    links.push(answer.json<LoginLink>().path);
  }
  const { port } = server.address() as AddressInfo;
  tick();
  process.send?.({ origin: `http://127.0.0.1:${port}`, links } satisfies LargeFleet);
});

const stalls = monitorEventLoopDelay({ resolution: 10 });
stalls.enable();
let cpu = process.cpuUsage();
let sinceMs = systemClock.monotonic();
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu);
  const nowMs = systemClock.monotonic();
  const used: Used = {
    cpuMs: (user + system) / 1_000,
    wallMs: nowMs - sinceMs,
    longestStallMs: stalls.max / 1e6,
  };
  cpu = process.cpuUsage();
  sinceMs = nowMs;
  stalls.reset();
  process.send?.(used);
});
process.on('disconnect', () => process.exit());
