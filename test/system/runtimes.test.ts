import { beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import type { Runtime, RuntimeHost } from '../../src/api/wire/runtime.ts';
import { type SharedPostgres, sharedPostgres } from '../../src/store/testing/postgres.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

let postgres: SharedPostgres;
beforeAll(async () => {
  postgres = await sharedPostgres();
});

const runtimes = (hosts: number, slots: number) => ({
  default: 'fixed',
  provisioners: {
    fixed: {
      type: 'static',
      spec: { runtimes: Array.from({ length: hosts }, (_, at) => ({ host: `http://h${at}:9091`, slots })) },
    },
  },
});

interface Asked {
  /** Resolves when a tenth is granted, in the turn of that answer: all others are answered later. */
  readonly someGranted: Promise<void>;
  readonly all: Promise<readonly Runtime[]>;
}

/** Asks for all of them at once, each again until it is answered. */
function askForAll(api: Api, count: number): Asked {
  const { promise: someGranted, resolve } = Promise.withResolvers<void>();
  let answered = 0;
  const one = async (at: number): Promise<Runtime> => {
    const runtime = await until(`runtime r${at} is granted`, () =>
      api.post<Runtime>('/runtimes', { id: `r${at}`, slots: 1 }).catch(() => undefined),
    );
    answered += 1;
    if (answered === count / 10) resolve();
    return runtime;
  };
  return { someGranted, all: Promise.all(Array.from({ length: count }, (_, at) => one(at))) };
}

async function expectExactly(api: Api, grants: readonly Runtime[], slots: number): Promise<void> {
  const { items: hosts } = await api.get<{ items: RuntimeHost[] }>('/runtime-hosts?limit=1000');
  expect(hosts.map(({ used, free }) => [used, free])).toEqual(hosts.map(() => [slots, 0]));
  // What a caller was answered is what is kept.
  const kept = new Map(hosts.flatMap(({ host, runtimes: there }) => there.map((id) => [id, host])));
  expect(grants.filter(({ id, grant }) => kept.get(id) !== grant?.host)).toEqual([]);
  const refused = await api
    .post('/runtimes', { id: 'one-too-many', slots: 1 })
    .catch((thrown: Error) => thrown.message);
  expect(refused).toMatch(/answered 503.*the freest, http:\/\/h\d+:9091 has 0 of \d+ slots free/);
}

test('a thousand requests at once, and kill -9 of the server in the middle: exactly a thousand are granted', async (context) => {
  const world = openWorld(context);
  const place = await placeServer(world, { agent_pools: [], runtimes: runtimes(50, 20) });
  const api = apiOf(world, place.http);
  const first = await startServer(world, place).ready();

  const { someGranted, all } = askForAll(api, 1_000);
  await someGranted;
  await first.kill();
  await startServer(world, place).ready();
  const grants = await all;

  await expectExactly(api, grants, 20);
  const shown = await runCli(world, ['runtime', 'show', 'r7']);
  expect(shown.out).toContain('Grant        1 CPU, 4 GB memory, 40 GiB storage');
  const drained = await runCli(world, ['runtime', 'host', 'drain', 'h7:9091']);
  expect(drained.out).toMatch(
    /^Host h7:9091 takes no new runtimes\. .*\n {2}r\d+ \(1 slots\): no other host has room\n/,
  );
});

test('the holder dies and a standby takes over: nothing is granted twice', async (context) => {
  const world = openWorld(context);
  const config = { store: await postgres.database(), agent_pools: [], runtimes: runtimes(50, 20) };
  const [a, b] = [await placeServer(world, config, { name: 'a' }), await placeServer(world, config, { name: 'b' })];
  const first = await startServer(world, a).ready();
  startServer(world, b);
  const api = apiOf(world, b.http);

  const { someGranted, all } = askForAll(api, 1_000);
  await someGranted;
  await first.kill();
  const grants = await all;

  await expectExactly(api, grants, 20);
});
