import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Runtime } from '#core/runtime.ts';
import { noun as output } from './output.ts';
import type { Call } from './route.ts';
import { noun as runtimes } from './runtimes.ts';
import { aSession, gone, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const coming: Runtime = {
  id: 'a',
  provisioner: 'cluster',
  slots: 1,
  environment: 'prod',
  annotations: {},
  createdAt: 0,
  wanted: 'running',
  phase: 'provisioning',
  since: 0,
};

async function opened() {
  const pool = poolWithSecret('gpu');
  const world = await apiWorld({
    rows: [row('runtimes', coming), row('pools', pool), row('sessions', aSession('s1', pool))],
  });
  const routes = [runtimes, output].flatMap((noun) => [...(noun.routes?.(world.deps, {} as never) ?? [])]);
  const over = new AbortController();
  /** Follows a stream; answers what has come so far. */
  async function follow(path: string, params: object, query: object) {
    const route = routes.find((one) => one.path === path);
    const call = { params, query, signal: over.signal, turn: async () => {}, header: () => {} };
    const stream = (await route?.handle(call as unknown as Call<unknown, unknown, unknown>)) as Readable;
    let text = '';
    stream.on('data', (part) => {
      text += String(part);
    });
    return { text: () => text, isOver: () => stream.readableEnded || stream.destroyed };
  }
  return { ...world, follow, end: () => over.abort() };
}

test('the progress of a runtime on which nothing happens for five minutes has a beat every 15 seconds', async () => {
  const { clock, deps, follow } = await opened();
  const { text, isOver } = await follow('/runtimes/:runtime/progress', { runtime: 'a' }, { timeout: HOUR_MS });
  await clock.advance(5 * MINUTE_MS);
  expect(text().split('\n').slice(1)).toEqual(Array(21).fill(''));

  await deps.store.commit([row('runtimes', { ...coming, phase: 'ready' })]);
  await clock.advance(1_000);

  expect(text()).toMatch(/"phase":"ready".*\n$/);
  expect(isOver()).toBe(true);
  await clock.advance(5 * MINUTE_MS);
  expect(text()).toMatch(/"phase":"ready".*\n$/);
});

test('the followed output of a silent session has a beat, but not as raw bytes', async () => {
  const { clock, follow, end } = await opened();
  const query = { follow: true, after_seq: 0, attempt: 0, raw: false };
  const lines = await follow('/sessions/:session/output', { session: 's1' }, query);
  const bytes = await follow('/sessions/:session/output', { session: 's1' }, { ...query, raw: true });

  await clock.advance(5 * MINUTE_MS);

  expect([lines.text(), bytes.text()]).toEqual(['\n'.repeat(20), '']);
  end();
});

test('the progress of a runtime that goes ends without a further beat', async () => {
  const { clock, deps, follow } = await opened();
  const { text, isOver } = await follow('/runtimes/:runtime/progress', { runtime: 'a' }, { timeout: HOUR_MS });
  await clock.advance(1_000);

  await deps.store.commit([gone('runtimes', 'a')]);
  await clock.advance(MINUTE_MS);

  expect(isOver()).toBe(true);
  expect(text().split('\n')).toHaveLength(2);
});
