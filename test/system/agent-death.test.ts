import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { sendSignal } from '#host/processes.ts';
import { type Api, apiOf } from './harness/api.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

// $1 its file, $2 what ends it. Each copy writes who it is as long as it lives.
const BEATS = 'while [ ! -e "$2" ]; do echo $$ >>"$1"; sleep 0.05; done; echo over >>"$1"';

async function beating(world: World, api: Api, wanted: { file: string; retries: number }) {
  const command = ['sh', '-c', BEATS, 'beats', world.path(wanted.file), world.path('stop')];
  const { id } = await api.submit({ pool: 'local', command, retries: wanted.retries });
  await until(`${wanted.file} beats`, () => world.lines(wanted.file).length > 0);
  const { worker = '' } = await until('it has started', async () => {
    const session = await api.session(id);
    return session.phase === 'running' && session;
  });
  return { id, worker };
}

/** The copies in the order of their beats; one that beats again after another has begun stands there twice. */
function copies(lines: readonly string[]): string[] {
  return lines.filter((line, at) => line !== 'over' && line !== lines[at - 1]);
}

test('kill -9 of an agent: its machine goes first, then its sessions by their policy, and it is replaced', async (context) => {
  const world = openWorld(context);
  const pool = processPool(world, 'local', { max_agents: 3, min_agents: 2, max_idle_agents: 3 });
  const place = await placeServer(world, { agent_pools: [pool] });
  await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  const retried = await beating(world, api, { file: 'retried', retries: 1 });
  const failed = await beating(world, api, { file: 'failed', retries: 0 });

  for (const { worker } of [retried, failed]) {
    sendSignal(Number.parseInt(readFileSync(`${world.dataDir}/machines/${worker}/pid`, 'utf8'), 10), 'SIGKILL');
  }
  const lost = await until('the one without retries has ended', async () => {
    const session = await api.session(failed.id);
    return session.end && session;
  });
  const again = await until('the other one runs again', async () => {
    const session = await api.session(retried.id);
    return session.phase === 'running' && session.attempt === 2 && copies(world.lines('retried')).length > 1 && session;
  });
  world.write('stop', '');
  const ended = await until('it has ended', async () => {
    const session = await api.session(retried.id);
    return session.end && session;
  });

  expect(lost).toMatchObject({ attempt: 1, end: { how: 'lost', message: 'The machine of the session is gone.' } });
  expect(lost.end?.exit_code).not.toBe(0);
  expect(again.worker).not.toBe(retried.worker);
  expect(ended).toMatchObject({ attempt: 2, end: { how: 'exited', exit_code: 0 } });
  expect(copies(world.lines('retried'))).toHaveLength(2);
  expect(copies(world.lines('failed'))).toHaveLength(1);
  expect(world.lines('failed')).not.toContain('over');

  const events = (await api.events()).toReversed();
  for (const { id, worker } of [retried, failed]) {
    const goneAt = events.findIndex(({ kind, subject }) => /removed|gone/.test(kind) && subject === `worker/${worker}`);
    const settledAt = events.findIndex(
      ({ kind, subject }) => /requeued|lost/.test(kind) && subject === `session/${id}`,
    );
    expect(goneAt).toBeGreaterThanOrEqual(0);
    expect(settledAt).toBeGreaterThan(goneAt);
  }
  const workers = await until('there are workers enough', async () => {
    const found = await api.workers();
    return found.length >= 2 && found.every(({ phase }) => phase === 'idle') && found;
  });
  const names = workers.map(({ name }) => name);
  expect(names).not.toContain(retried.worker);
  expect(names).not.toContain(failed.worker);
  expect(world.agents().toSorted()).toEqual(names.toSorted());
});
