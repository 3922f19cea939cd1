import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Offer } from '#core/pool.ts';
import type { AnyKind, Backend, Context, Kinds, Launch } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type SimCloud, simCloud, simKind } from '#sim/backend.ts';
import { type CloudsDeps, openClouds } from './clouds.ts';
import { openGate, type SeenCall } from './gate.ts';

const anOffer = (id: string, kind = 'sim'): Offer => ({ id, kind, config: { size: id } });
const aLaunch = (...names: string[]): Launch => ({
  id: `launch of ${names.join(' ')}`,
  mark: { cluster: 'c1', use: 'worker', owner: 'p1', shape: 'a' },
  names,
  boot: { agentConfig: '', token: '' },
  askedAt: 0,
});
const never = new AbortController().signal;

interface Options {
  readonly kinds?: (cloud: SimCloud) => Kinds<Backend>;
  readonly deps?: Partial<CloudsDeps>;
  durable?(): Promise<void>;
}

function setUp({ kinds, deps, durable = async () => {} }: Options = {}) {
  const clock = new VirtualClock();
  const cloud = simCloud({ clock, answerMs: 100 });
  const lease = { leftMs: Number.POSITIVE_INFINITY };
  const seen: SeenCall[] = [];
  const random = seededRandom(1);
  const clouds = openClouds({
    kinds: kinds?.(cloud) ?? { sim: simKind(cloud) },
    context: { cluster: 'c1', clock, random, log: silentLog } as unknown as Context,
    gate: openGate({
      store: { durable, leaseLeftMs: () => lease.leftMs },
      clock,
      log: silentLog,
      observe: (call) => void seen.push(call),
    }),
    clock,
    random,
    log: silentLog,
    ...deps,
  });
  const lists = () => cloud.calls.filter((call) => call.name === 'list').length;
  const creates = () => cloud.calls.filter((call) => call.name === 'create').length;
  const create = (name: string, pool = 'p1', signal = never) =>
    clouds.create(anOffer('a'), aLaunch(name), { owner: pool, signal });
  return { clock, cloud, clouds, lease, seen, lists, creates, create };
}

describe('opening', () => {
  it('opens an offer once, with the configuration that was checked', async () => {
    const opened: unknown[] = [];
    const { clock, clouds, create } = setUp({
      kinds: (cloud) => {
        const open: AnyKind<Backend>['open'] = async (config) => {
          opened.push(config);
          return cloud.backend();
        };
        return { sim: { ...simKind(cloud), open } };
      },
    });

    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    clouds.follow('p2', [anOffer('a')], MINUTE_MS);
    const made = create('m1');
    await clock.advance(SECOND_MS);
    await made;

    expect(opened).toEqual([{ size: 'a' }]);
    expect(clouds.cloudOf('a')).toBe('sim');
  });

  it.each([
    [{ boots: 'script' }, false],
    [{}, true],
  ] as const)('opens an offer of a kind with %o before the agent is packed: %s', async (kind, isOpened) => {
    const { promise: packed, resolve: pack } = Promise.withResolvers<void>();
    const { clock, clouds } = setUp({
      kinds: (cloud) => ({ sim: { ...simKind(cloud), ...kind } }),
      deps: { packAgent: () => packed },
    });

    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    await clock.advance(10 * SECOND_MS);
    const before = clouds.cloudOf('a');
    pack();
    await clock.advance(SECOND_MS);

    expect(before !== undefined).toBe(isOpened);
    expect(clouds.cloudOf('a')).toBe('sim');
  });

  it('says what is wrong with an offer that does not open, and opens it when it can', async () => {
    let isBroken = true;
    const { clock, clouds } = setUp({
      kinds: (cloud) => {
        const open: AnyKind<Backend>['open'] = async () => {
          if (isBroken) throw new Fault('denied', 'no such key');
          return cloud.backend();
        };
        return { sim: { ...simKind(cloud), open } };
      },
    });

    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    await clock.advance(SECOND_MS);
    const fault = clouds.fault('a');
    isBroken = false;
    await clock.advance(2 * MINUTE_MS);

    expect(fault).toMatchObject({ kind: 'denied', message: 'no such key' });
    expect(clouds.fault('a')).toBeUndefined();
    expect(clouds.listing('a')).toBeDefined();
  });

  it('refuses a kind that no provider brings, naming those there are', async () => {
    const { clouds } = setUp();

    const asked = clouds.create(anOffer('a', 'nix'), aLaunch('m1'), { owner: 'p1', signal: never });

    await expect(asked).rejects.toMatchObject({ kind: 'invalid', remedy: 'Use one of: sim.' });
  });

  it('closes an offer without followers', async () => {
    let closed = 0;
    const { clock, clouds, lists } = setUp({
      kinds: (cloud) => {
        const close = async (): Promise<void> => void closed++;
        return { sim: { ...simKind(cloud), open: async () => ({ ...cloud.backend(), close }) } };
      },
    });
    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    clouds.follow('p2', [anOffer('a')], MINUTE_MS);
    await clock.advance(SECOND_MS);

    clouds.follow('p1', [], 0);
    const early = closed;
    clouds.follow('p2', [], 0);
    const before = lists();
    await clock.advance(10 * MINUTE_MS);

    expect([early, closed]).toEqual([0, 1]);
    expect(lists()).toBe(before);
  });
});

describe('a call', () => {
  it('does not leave before all that was committed is durable', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    const durable = (): Promise<void> => (isHeld ? new Promise((resolve) => held.push(resolve)) : Promise.resolve());
    const { clock, cloud, clouds, create } = setUp({ durable });
    clouds.follow('p1', [anOffer('a')], MINUTE_MS);

    const made = create('m1');
    await clock.advance(MINUTE_MS);
    for (const release of held.splice(0)) release();
    await clock.advance(MINUTE_MS);
    const whileHeld = [...cloud.calls];
    isHeld = false;
    for (const release of held.splice(0)) release();
    await clock.advance(SECOND_MS);
    await made;

    expect(whileHeld).toEqual([]);
    expect(cloud.machines()).toHaveLength(1);
  });

  it('does not leave with too little of the lease left, and says that it did not', async () => {
    const { clock, clouds, lease, creates } = setUp();
    clouds.follow('p1', [anOffer('a')], MINUTE_MS);
    await clock.advance(SECOND_MS);
    lease.leftMs = 100;
    let hasLeft = false;

    const made = clouds.create(anOffer('a'), aLaunch('m1'), {
      owner: 'p1',
      signal: never,
      leaving: () => (hasLeft = true),
    });

    await expect(made).rejects.toMatchObject({ kind: 'unavailable' });
    expect([creates(), hasLeft]).toEqual([0, false]);
  });

  it('is given up before the lease runs out, and goes on while that is renewed', async () => {
    const { clock, cloud, create, lease } = setUp();
    cloud.script = ({ name }) => (name === 'create' ? { is: 'slow', ms: 10_000 } : undefined);
    const endsMs = { at: 3_000 };
    Object.defineProperty(lease, 'leftMs', { get: () => endsMs.at - clock.monotonic() });

    const renewed = create('m1');
    for (let at = 0; at < 11; at++) {
      await clock.advance(SECOND_MS);
      endsMs.at = clock.monotonic() + 3_000;
    }
    const lost = create('m2').then(
      () => 'made',
      (fault: Fault) => `${fault.kind} at ${clock.monotonic() - 11_000}`,
    );
    await clock.advance(20 * SECOND_MS);

    await expect(renewed).resolves.toHaveLength(1);
    await expect(lost).resolves.toBe('unavailable at 2750');
  });

  it('that hangs is given up after its time, even where it ignores its signal', async () => {
    const { clock, cloud, create } = setUp({ deps: { timeoutsMs: { create: 30_000 } } });
    cloud.script = ({ name }) => (name === 'create' ? { is: 'hang', isDone: false } : undefined);

    const made = create('m1').catch((fault: Fault) => fault.message);
    await clock.advance(30 * SECOND_MS);

    await expect(made).resolves.toBe('create on sim did not answer within 30s.');
  });

  it('is given up when its caller is', async () => {
    const { clock, cloud, create } = setUp();
    cloud.script = ({ name }) => (name === 'create' ? { is: 'hang', isDone: false } : undefined);
    const stopping = new AbortController();

    const made = create('m1', 'p1', stopping.signal).catch((fault: Fault) => fault.kind);
    await clock.advance(SECOND_MS);
    stopping.abort();

    await expect(made).resolves.toBe('unavailable');
  });

  it('that hangs leaves room for other pools on the same cloud', async () => {
    const { clock, cloud, create } = setUp();
    cloud.script = ({ names }) => (names[0]?.startsWith('stuck') ? { is: 'hang', isDone: false } : undefined);
    for (let at = 0; at < 50; at++) void create(`stuck${at}`, 'stuck pool').catch(() => {});
    await clock.advance(SECOND_MS);

    const made = create('m1', 'another pool');
    await clock.advance(SECOND_MS);

    await expect(made).resolves.toMatchObject([{ name: 'm1' }]);
  });

  it('waits for its place in the budget of its cloud', async () => {
    const { clock, cloud, create } = setUp({
      kinds: (sim) => ({ sim: { ...simKind(sim), limits: { read: 1, write: 2 } } }),
    });
    const doneMs: number[] = [];
    await clock.advance(10 * SECOND_MS);
    const startMs = clock.monotonic();

    for (let at = 0; at < 6; at++) void create(`m${at}`, `p${at}`).then(() => doneMs.push(clock.monotonic() - startMs));
    await clock.advance(10 * SECOND_MS);

    expect(cloud.machines()).toHaveLength(6);
    expect(doneMs).toEqual([100, 100, 600, 1_100, 1_600, 2_100]);
  });

  it('waits for its place in the budget of its account, which two clouds share', async () => {
    const { clock, clouds } = setUp({
      kinds: (sim) => {
        const open: AnyKind<Backend>['open'] = async ({ size }) => {
          return { ...sim.backend(), cloud: `sim:${size}`, account: 'sim:me' };
        };
        return { sim: { ...simKind(sim), open, limits: { read: 1, write: { perSecond: 2, burst: 1 } } } };
      },
    });
    const doneMs: number[] = [];
    await clock.advance(10 * SECOND_MS);
    const startMs = clock.monotonic();

    for (let at = 0; at < 4; at++) {
      const made = clouds.create(anOffer(at % 2 ? 'a' : 'b'), aLaunch(`m${at}`), { owner: `p${at}`, signal: never });
      void made.then(() => doneMs.push(clock.monotonic() - startMs));
    }
    await clock.advance(10 * SECOND_MS);

    expect([clouds.cloudOf('a'), clouds.cloudOf('b')]).toEqual(['sim:a', 'sim:b']);
    expect(doneMs).toEqual([100, 600, 1_100, 1_600]);
  });

  it('holds back the next ones where the cloud says that it is too much', async () => {
    const { clock, cloud, create } = setUp({
      kinds: (sim) => ({ sim: { ...simKind(sim), limits: { read: 100, write: 100 } } }),
    });
    cloud.script = ({ name, nth }) => {
      if (name !== 'create' || nth > 1) return undefined;
      return { is: 'refused', fault: new Fault('throttled', 'slow down', { retryAfterMs: 5_000 }) };
    };
    await create('m1').catch(() => {});
    const startMs = clock.monotonic();

    const made = create('m2').then(() => clock.monotonic() - startMs);
    await clock.advance(10 * SECOND_MS);

    await expect(made).resolves.toBe(5_100);
  });

  it('is observed: how long it took and how it ended', async () => {
    const { clock, cloud, create, seen } = setUp();
    cloud.script = ({ nth }) => (nth > 1 ? { is: 'refused', fault: new Fault('quota', 'no more') } : undefined);

    const first = create('m1');
    await clock.advance(SECOND_MS);
    await first;
    await create('m2').catch(() => {});

    const creates = seen.filter(({ call }) => call === 'create');
    expect(creates).toEqual([
      { account: 'sim', call: 'create', durationMs: 100, fault: undefined },
      { account: 'sim', call: 'create', durationMs: 0, fault: 'quota' },
    ]);
  });

  it.each([
    [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'unavailable'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) }), 'unavailable'],
    [Object.assign(new Error('aborted'), { name: 'AbortError' }), 'unavailable'],
    [new TypeError('undefined is not a function'), 'internal'],
    [new Fault('quota', 'no more'), 'quota'],
  ])('turns %s into a fault: %s', async (thrown, kind) => {
    const { create } = setUp({
      kinds: (cloud) => ({
        sim: { ...simKind(cloud), open: async () => ({ ...cloud.backend(), create: () => Promise.reject(thrown) }) },
      }),
    });

    await expect(create('m1')).rejects.toMatchObject({ name: 'Fault', kind });
  });
});
