import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Offer } from '#core/pool.ts';
import type { AnyKind, Backend, Context, Machine } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { simCloud, simKind } from '#sim/backend.ts';
import { openClouds } from './clouds.ts';
import { openGate } from './gate.ts';
import { isGone, type Listing } from './listing.ts';

const anOffer = (id: string, kind = 'sim'): Offer => ({ id, kind, config: { size: id } });

function setUp(change = (backend: Backend, _offer: string): Backend => backend) {
  const clock = new VirtualClock();
  const cloud = simCloud({ clock, answerMs: 100 });
  const stuck = simCloud({ clock, cloud: 'stuck' });
  const random = seededRandom(1);
  const open: AnyKind<Backend>['open'] = async ({ size }) => change(cloud.backend(), size);
  const clouds = openClouds({
    kinds: { sim: { ...simKind(cloud), open }, stuck: simKind(stuck) },
    context: { cluster: 'c1', clock, random, log: silentLog } as unknown as Context,
    gate: openGate({
      store: { durable: async () => {}, leaseLeftMs: () => Number.POSITIVE_INFINITY },
      clock,
      log: silentLog,
    }),
    clock,
    random,
    log: silentLog,
  });
  const listings: Listing[] = [];
  clouds.onListing((listing) => void listings.push(listing));
  const lists = () => cloud.calls.filter((call) => call.name === 'list').length;
  return { clock, cloud, stuck, clouds, listings, lists };
}

/** `hints`: what the watching offers call when their cloud has changed. */
function setUpHints() {
  const hints: (() => void)[] = [];
  const watch = (changed: () => void): void => void hints.push(changed);
  return { ...setUp((backend) => ({ ...backend, watch })), hints };
}

describe('a listing', () => {
  const machine = (name: string, cluster = 'c1'): Machine => {
    return { name, mark: { cluster, use: 'worker', owner: 'p', shape: 's' }, createdAt: 0, state: 'running' };
  };

  it('is one for each cloud, at the shortest interval that a pool on it asks for', async () => {
    const { clock, clouds, lists } = setUp();

    clouds.follow('p1', [anOffer('a')], 60 * SECOND_MS);
    clouds.follow('p2', [anOffer('b')], 20 * SECOND_MS);
    await clock.advance(2 * MINUTE_MS);

    expect(lists()).toBeGreaterThanOrEqual(6);
    expect(lists()).toBeLessThanOrEqual(8);
    expect([...clouds.followers('sim')]).toEqual(['p1', 'p2']);
  });

  it('comes on demand after the gap that its backend allows, and at most a fifth of the time', async () => {
    const { clock, clouds, lists } = setUp((backend) => ({ ...backend, leastGapMs: 200 }));
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(MINUTE_MS);
    const before = lists();

    for (let asked = 0; asked < 20; asked++) {
      clouds.refresh('a');
      await clock.advance(100);
    }

    // Each takes 100 ms, so one begins every 500 ms of these two seconds, at both ends too.
    expect(lists() - before).toBe(5);
  });

  it('comes sooner when a pool asks for a shorter interval', async () => {
    const { clock, clouds, lists } = setUp();
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(MINUTE_MS);

    clouds.follow('p1', [anOffer('a')], 10 * SECOND_MS);
    await clock.advance(MINUTE_MS);

    expect(lists()).toBeGreaterThan(5);
  });

  it('comes within two seconds after a hint of its backend, and a thousand hints make one', async () => {
    const { clock, clouds, lists, hints } = setUpHints();
    clouds.follow('p1', [anOffer('a'), anOffer('b')], 60 * MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    const before = lists();

    for (let at = 0; at < 1_000; at++) hints[0]?.();
    await clock.advance(2 * SECOND_MS);
    const after = lists();
    await clock.advance(MINUTE_MS);

    expect(hints).toHaveLength(1);
    expect([after - before, lists() - after]).toEqual([1, 0]);
  });

  it('that failed for long comes within two seconds after a hint, and hints alone do not make it frequent', async () => {
    const { clock, cloud, clouds, lists, hints } = setUpHints();
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    cloud.script = () => ({ is: 'refused', fault: new Fault('unavailable', 'away') });
    clouds.refresh('a');
    await clock.advance(10 * MINUTE_MS);
    const before = lists();
    for (let at = 0; at < 100; at++) {
      hints[0]?.();
      await clock.advance(100);
    }
    const tried = lists() - before;
    cloud.script = () => undefined;
    hints[0]?.();
    await clock.advance(2 * SECOND_MS + 100);

    expect(tried).toBeLessThanOrEqual(6);
    expect(clouds.fault('a')).toBeUndefined();
  });

  it('that failed for long waits longer after each failure, also when hints come between', async () => {
    const { clock, cloud, clouds, lists, hints } = setUpHints();
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    cloud.script = () => ({ is: 'refused', fault: new Fault('unavailable', 'away') });
    clouds.refresh('a');
    await clock.advance(10 * MINUTE_MS);
    for (let at = 0; at < 2; at++) {
      hints[0]?.();
      await clock.advance(SECOND_MS);
    }
    await clock.advance(2 * SECOND_MS);
    const before = lists();
    await clock.advance(30 * SECOND_MS);

    expect(lists()).toBe(before);
  });

  it('that its cloud throttled is not tried sooner for a hint', async () => {
    const { clock, cloud, clouds, lists, hints } = setUpHints();
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    cloud.script = () => ({ is: 'refused', fault: new Fault('throttled', 'slow down', { retryAfterMs: MINUTE_MS }) });
    clouds.refresh('a');
    await clock.advance(SECOND_MS);
    const before = lists();
    for (let at = 0; at < 50; at++) {
      hints[0]?.();
      await clock.advance(SECOND_MS);
    }

    expect(lists()).toBe(before);
  });

  it('is watched by another offer of its cloud when the one that watched is closed, and by none after the last', async () => {
    const watching = new Set<string>();
    const { clock, clouds } = setUp((backend, offer) => ({
      ...backend,
      watch(_changed, signal) {
        watching.add(offer);
        signal.addEventListener('abort', () => watching.delete(offer));
      },
    }));
    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    await clock.advance(SECOND_MS);
    clouds.follow('p2', [anOffer('b')], MINUTE_MS);
    await clock.advance(SECOND_MS);

    const seen = [[...watching]];
    clouds.follow('p1', [], 0);
    seen.push([...watching]);
    clouds.follow('p2', [], 0);

    expect(seen).toEqual([['a'], ['b']]);
    expect(watching.size).toBe(0);
  });

  it('comes on demand, and many askers make one', async () => {
    const { clock, clouds, lists } = setUp();
    clouds.follow('p1', [anOffer('a')], 60 * MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    const before = lists();

    for (let at = 0; at < 10; at++) clouds.refresh('a');
    await clock.advance(SECOND_MS);

    expect(lists()).toBe(before + 1);
  });

  it('that fails keeps the last good one, and is tried again', async () => {
    const { clock, cloud, clouds } = setUp();
    cloud.add(machine('m1'));
    clouds.follow('p1', [anOffer('a')], 10 * SECOND_MS);
    await clock.advance(SECOND_MS);
    const good = clouds.listing('a');
    cloud.script = () => ({ is: 'refused', fault: new Fault('unavailable', 'away') });

    await clock.advance(5 * MINUTE_MS);

    expect(clouds.listing('a')).toBe(good);
    expect(clouds.status()).toMatchObject([{ cloud: 'sim', machines: 1, fault: { kind: 'unavailable' } }]);
    cloud.script = () => undefined;
    await clock.advance(2 * MINUTE_MS);
    expect(clouds.listing('a')?.count).toBeGreaterThan(1);
    expect(clouds.fault('a')).toBeUndefined();
  });

  it('that goes on failing is tried ever less often', async () => {
    const { clock, cloud, clouds, lists } = setUp();
    cloud.script = () => ({ is: 'refused', fault: new Fault('unavailable', 'away') });

    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    await clock.advance(60 * MINUTE_MS);

    expect(lists()).toBeGreaterThan(10);
    expect(lists()).toBeLessThan(100);
  });

  it('that failed is not hurried by those who ask for it', async () => {
    const { clock, cloud, clouds, lists } = setUp();
    cloud.script = () => ({ is: 'refused', fault: new Fault('denied', 'no rights') });
    clouds.follow('p1', [anOffer('a')], 10 * SECOND_MS);

    for (let at = 0; at < 120; at++) {
      clouds.refresh('a');
      await clock.advance(SECOND_MS);
    }

    expect(lists()).toBeLessThan(5);
  });

  it('that hangs keeps no other cloud waiting', async () => {
    const { clock, stuck, clouds } = setUp();
    stuck.script = () => ({ is: 'hang', isDone: false });

    clouds.follow('p1', [anOffer('b', 'stuck')], 10 * SECOND_MS);
    clouds.follow('p2', [anOffer('a')], 10 * SECOND_MS);
    await clock.advance(30 * SECOND_MS);

    expect(clouds.listing('b')).toBeUndefined();
    expect(clouds.listing('a')?.count).toBeGreaterThan(1);
  });

  it('leaves out what bears the mark of another cluster', async () => {
    const { clock, cloud, clouds } = setUp();
    cloud.add(machine('ours'));
    cloud.add(machine('theirs', 'c2'));
    cloud.add({ ...machine('unmarked'), mark: undefined });

    clouds.follow('p1', [anOffer('a')], 10 * SECOND_MS);
    await clock.advance(SECOND_MS);

    expect([...(clouds.listing('a')?.machines.keys() ?? [])]).toEqual(['ours', 'unmarked']);
  });

  it('misses a machine only when two good ones that began later do', async () => {
    const { clock, cloud, clouds, listings } = setUp();
    cloud.add(machine('m1'));
    clouds.follow('p1', [anOffer('a')], 10 * SECOND_MS);
    await clock.advance(SECOND_MS);
    const sinceMs = clock.monotonic();
    cloud.kill('m1');

    await clock.advance(40 * SECOND_MS);

    expect(listings.map((listing) => isGone(listing, 'm1', sinceMs)).slice(0, 3)).toEqual([false, false, true]);
    expect(isGone(listings[2], 'm1', listings[1]?.startedMs ?? 0)).toBe(false);
    expect(isGone(undefined, 'm1', 0)).toBe(false);
  });
});
