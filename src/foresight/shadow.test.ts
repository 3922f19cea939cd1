import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { append, type Change, drop, put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { startShadows } from './shadow.ts';
import { endedSession, GPU, NOW_MS, openRecords, poolOf } from './testing/recorded-pool.ts';

const gpu = poolOf(GPU);
const OTHER = GPU.replace('max_idle_agents: 1', 'min_idle_agents: 2\n  max_idle_agents: 4');
const ACTOR = { who: 'token:ann', from: 'here' };

async function openShadows(changes: readonly Change[] = [put('pools', gpu)]) {
  const records = await openRecords(changes);
  const clock = new VirtualClock(NOW_MS);
  const base = { ...records, clock, random: seededRandom(1), log: silentLog };
  const deps = { ...base, journal: startJournal(base) };
  const shadows = startShadows(deps);
  const { store } = records;
  const arrive = (): Promise<void> => store.commit([append('ended', endedSession(gpu, clock.now()))]);
  return { ...deps, shadows, arrive };
}

describe('a shadow', () => {
  it('is what another policy would have done since it was set, computed again every five minutes', async () => {
    const { shadows, clock, arrive } = await openShadows();

    const set = await shadows.setShadow(gpu, OTHER, ACTOR);
    expect(set).toMatchObject({ shadow: { id: gpu.id, since: NOW_MS, by: 'token:ann' } });
    expect(set.forecast).toBeUndefined();
    await clock.advance(10_000);
    await arrive();
    expect(shadows.shadowOf(gpu.id)).toMatchObject({ problem: expect.stringContaining('no session') });
    await clock.advance(5 * MINUTE_MS);
    const first = shadows.shadowOf(gpu.id)?.forecast;
    await arrive();
    await clock.advance(5 * MINUTE_MS);
    const second = shadows.shadowOf(gpu.id)?.forecast;

    expect(first).toMatchObject({ fromMs: NOW_MS, sessions: 1, recorded: { sessions: 1 }, today: { sessions: 1 } });
    expect(first?.other?.waits.p95Ms).toBe(0);
    expect(first?.other?.dollars).toBeGreaterThan(first?.today.dollars ?? Number.NaN);
    expect(second).toMatchObject({ sessions: 2 });
    await shadows.stop();
  });

  it('writes nothing of the pool, and nothing at all when it is computed', async () => {
    const { shadows, store, clock, arrive } = await openShadows();
    const written: Change[] = [];
    store.onDurable((changes) => void written.push(...changes));

    await shadows.setShadow(gpu, OTHER, ACTOR);
    await arrive();
    await clock.advance(HOUR_MS);

    expect(written.map((change) => ('table' in change ? change.table : change.append))).toEqual([
      'shadows',
      'events',
      'ended',
    ]);
    await shadows.stop();
  });

  it('goes on after a restart from the day it was set, ends when it is dropped, and with its pool', async () => {
    const { shadows, store, clock, ...deps } = await openShadows();
    await shadows.setShadow(gpu, OTHER, ACTOR);
    await store.commit([append('ended', endedSession(gpu, NOW_MS + MINUTE_MS))]);
    await shadows.stop();

    await clock.advance(DAY_MS);
    const next = startShadows({ ...deps, store, clock });
    await clock.advance(10_000);
    expect(next.shadowOf(gpu.id)).toMatchObject({ forecast: { fromMs: NOW_MS, sessions: 1 } });

    await next.dropShadow(gpu, ACTOR);
    await next.dropShadow(gpu, ACTOR);
    expect([next.shadowOf(gpu.id), store.view.shadows.size]).toEqual([undefined, 0]);

    await next.setShadow(gpu, OTHER, ACTOR);
    await store.commit([drop('pools', gpu.id)]);
    await clock.advance(10_000);
    expect(store.view.shadows.size).toBe(0);
    await next.stop();
  });

  it('is refused with a document of another pool, with one that is wrong, and for a pool without a policy', async () => {
    const { shadows } = await openShadows();

    await expect(shadows.setShadow(gpu, OTHER.replace('gpu', 'cpu'), ACTOR)).rejects.toMatchObject({
      message: 'The document defines pool cpu, not gpu.',
    });
    await expect(shadows.setShadow(gpu, OTHER.replace('max_agents', 'max_agnets'), ACTOR)).rejects.toMatchObject({
      message: expect.stringContaining('did you mean max_agents?'),
    });
    await expect(shadows.setShadow(poolOf('name: own'), 'name: own', ACTOR)).rejects.toMatchObject({ kind: 'invalid' });
    await shadows.stop();
  });
});
