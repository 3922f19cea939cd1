import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { type Context, kind } from '#core/provider.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openGate } from './gate.ts';
import { openKinds } from './open-kinds.ts';

const never = new AbortController().signal;

/** A family as small as can be: lamps of a house, switched from outside. */
interface Lamp {
  readonly cloud: string;
  readonly account?: string | undefined;
  light(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const LAMP = { kind: 'lamp', config: { room: 'kitchen', house: 'home' } };

function setUp() {
  const clock = new VirtualClock();
  const left: string[] = [];
  const store = { leaseMs: Number.POSITIVE_INFINITY, isPaused: false, waiting: [] as (() => void)[] };
  const durable = async (): Promise<void> => {
    if (store.isPaused) await new Promise<void>((resolve) => store.waiting.push(resolve));
  };
  const gate = openGate({ store: { durable, leaseLeftMs: () => store.leaseMs }, clock, log: silentLog });
  const lamp = kind<{ room: string; house: string }, Lamp>({
    summary: '',
    config: z.strictObject({ room: z.string(), house: z.string() }),
    example: {},
    trust: 'any source',
    limits: { read: 10, write: { perSecond: 1, burst: 1 } },
    async open({ room, house }) {
      left.push(`open ${room}`);
      return {
        cloud: room,
        account: house,
        light: async () => void left.push(`light ${room}`),
        close: async () => void left.push(`close ${room}`),
      };
    },
  });
  const lamps = openKinds({
    noun: 'lamp',
    kinds: { lamp },
    context: { rates: { office: 2 } } as unknown as Context,
    gate,
    log: silentLog,
  });
  const light = (chosen = LAMP) =>
    lamps.call(chosen, { name: 'light', is: 'write', owner: 'me', signal: never }, (it, signal) => it.light(signal));
  return { clock, store, gate, lamps, left, light };
}

describe('no call of any family leaves', () => {
  it('while what was committed is not durable, opening included', async () => {
    const { clock, store, gate, left, light } = setUp();
    store.isPaused = true;

    const lit = light();
    const report = gate.call(
      { name: 'report', is: 'write', account: 'a source', owner: 'a source', timeoutMs: MINUTE_MS, signal: never },
      async () => left.push('report'),
    );
    await clock.advance(MINUTE_MS);
    const whilePaused = [...left];
    store.isPaused = false;
    for (const resume of store.waiting.splice(0)) resume();
    await clock.advance(MINUTE_MS);
    await Promise.all([lit, report]);

    expect(whilePaused).toEqual([]);
    expect(left.toSorted()).toEqual(['light kitchen', 'open kitchen', 'report']);
  });

  it('of a process that may no longer be the holder, opening included', async () => {
    const { store, left, light } = setUp();
    store.leaseMs = 0;

    await expect(light()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(left).toEqual([]);
  });

  it('of one that was stopped after it had opened, and woke when another was the holder', async () => {
    const { clock, store, gate, left, light } = setUp();
    await light();
    await clock.advance(MINUTE_MS);
    store.leaseMs = 0;

    await expect(light()).rejects.toMatchObject({ kind: 'unavailable' });
    const report = { name: 'report', is: 'write', account: 'a', owner: 'a', timeoutMs: MINUTE_MS } as const;
    await expect(gate.call({ ...report, signal: never }, async () => left.push('report'))).rejects.toThrow(
      'report on a',
    );
    expect(left).toEqual(['open kitchen', 'light kitchen']);
  });
});

it('equal configurations are opened once, whatever the order of their keys', async () => {
  const { clock, left, light, lamps } = setUp();

  const lit = [light(), light({ kind: 'lamp', config: { house: 'home', room: 'kitchen' } })];
  await clock.advance(MINUTE_MS);
  await Promise.all(lit);
  await lamps.closeAll();

  expect(left).toEqual(['open kitchen', 'light kitchen', 'light kitchen', 'close kitchen']);
});

it('what is of one account shares its budget, as many times as the operator says it has', async () => {
  const { clock, left, light } = setUp();
  const timeOf = async (house: string): Promise<number> => {
    const startMs = clock.monotonic();
    const rooms = ['kitchen', 'hall', 'attic', 'cellar', 'porch'];
    const lit = Promise.all(rooms.map((room) => light({ kind: 'lamp', config: { room, house } })));
    let tookMs = 0;
    void lit.then(() => (tookMs = clock.monotonic() - startMs));
    await clock.advance(MINUTE_MS);
    return tookMs;
  };

  expect([await timeOf('home'), await timeOf('office')]).toEqual([4 * SECOND_MS, 1.5 * SECOND_MS]);
  expect(left).toHaveLength(20);
});

it('a kind that does not open is opened again at the next call', async () => {
  const { left, light, lamps } = setUp();
  const unknown = lamps.call(
    { ...LAMP, kind: 'sun' },
    { name: 'light', is: 'write', owner: 'me', signal: never },
    (it) => it.close(),
  );

  await expect(unknown).rejects.toMatchObject({ kind: 'invalid', message: 'There is no lamp "sun".' });
  await light();

  expect(left).toEqual(['open kitchen', 'light kitchen']);
});
