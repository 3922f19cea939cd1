import { describe, expect, it } from 'vitest';
import type { Budget } from '#core/budget.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Pool, Scaling } from '#core/pool.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import type { PoolWorld } from '#sim/pool-world.ts';
import { budgetsOf, openBill, openBudgetWorld, spentOf } from './testing/budget-world.ts';

const PRICE = { terms: { [OFFER.id]: { pricePerHour: 3 } } };
const pool = (name: string, scaling: Partial<Scaling> = {}, more: Partial<Pool['spec']> = {}): Pool =>
  aPool({ maxAgents: 100, idleDecayMs: 0, ...scaling }, { name, ...PRICE, ...more });

const hour = (perHour: number, more: Partial<Budget> = {}): Budget => ({ name: 'ml', perHour, end: 'stop', ...more });
const month = (perMonth: number, more: Partial<Budget> = {}): Budget => ({
  name: 'ml',
  perMonth,
  end: 'stop',
  ...more,
});

const machines = ({ cloud }: PoolWorld): number => cloud.machines().length;
const events = ({ disk }: PoolWorld, kind: string): string[] =>
  disk.histories.events.filter((event) => event.kind === kind).map(({ message }) => message);

describe('a budget with stop', () => {
  it('holds the hour over all pools under it, in any order, and others launch what they want', async () => {
    const pools = [pool('ml-a'), pool('ml-b'), pool('web')];
    const world = await openBudgetWorld({ pools, budgets: [hour(10, { pools: ['ml-*'] })] });

    for (const { name } of pools) await world.life.submit(name, 5, HOUR_MS);
    await world.advance(5 * MINUTE_MS);

    expect(budgetsOf(world).find('ml')).toMatchObject({ machines: 3, dollarsPerHour: 9, pools: 2, computers: 0 });
    expect(world.phases('id-web')).toBe('5 busy');
    expect(machines(world)).toBe(8);
    expect(world.life.workers.plan('id-ml-b').why).toContain('per_hour 10 of budget ml');
  });

  it('gives the room of a machine that has ended to a pool that waits for it', async () => {
    const world = await openBudgetWorld({ pools: [pool('a'), pool('b')], budgets: [hour(3)] });
    await world.life.submit('a', 1, 10 * MINUTE_MS);
    await world.advance(SECOND_MS);
    await world.life.submit('b', 1, 10 * MINUTE_MS);
    await world.advance(5 * MINUTE_MS);
    expect(world.phases('id-b')).toBe('none');

    await world.advance(10 * MINUTE_MS);

    expect(world.phases('id-b')).toBe('1 busy');
    expect(world.phases('id-a')).toBe('none');
  });

  it('counts a launch that its cloud refuses only until that is known', async () => {
    const world = await openBudgetWorld({ pools: [pool('a')], budgets: [month(1_000)] });
    world.cloud.script = ({ name }) =>
      name === 'create' ? { is: 'refused', fault: new Fault('exhausted', 'No room.') } : undefined;

    await world.life.submit('a', 2, HOUR_MS);
    await world.advance(30 * SECOND_MS);

    expect(budgetsOf(world).find('ml')).toMatchObject({ machines: 0, dollarsPerHour: 0 });
    expect(spentOf(world, 'ml')).toBeCloseTo(0, 9);
  });

  it('lets idle workers go and busy ones finish when the month is spent, and begins anew with the next', async () => {
    const startMs = Date.UTC(2026, 0, 31, 12);
    const idle = pool('a', { minIdleSlots: 2, maxIdleSlots: 2 });
    // Launching stops at an hour of what runs before the end, so most of it goes by in waiting.
    const world = await openBudgetWorld({ pools: [idle], startMs, budgets: [month(20)] });
    await world.life.submit('a', 1, 4 * HOUR_MS);
    await world.advance(MINUTE_MS);
    expect(world.phases('id-a')).toBe('2 idle, 1 busy');

    await world.advance(2 * HOUR_MS + 30 * MINUTE_MS);
    expect(world.phases('id-a')).toBe('1 draining');
    expect(world.life.workers.plan('id-a').reason.code).toBe('budget-spent');
    expect(budgetsOf(world).find('ml')).toMatchObject({ busyBeyond: 3 });
    await world.life.submit('a', 1, MINUTE_MS);
    await world.advance(3 * HOUR_MS);
    expect(world.phases('id-a')).toBe('none');
    expect(world.disk.histories.ended.map(({ end }) => end?.how)).toEqual(['exited']);

    await world.advance(8 * HOUR_MS);
    expect(world.phases('id-a')).toBe('2 idle');
    expect(spentOf(world, 'ml')).toBeGreaterThan(0);
    expect(spentOf(world, 'ml')).toBeLessThan(10);
  });

  it('launches nothing whose price is not known, and names pool and backend', async () => {
    const world = await openBudgetWorld({ pools: [pool('a', {}, { terms: {} })], budgets: [hour(10)] });

    await world.life.submit('a', 1, HOUR_MS);
    await world.advance(MINUTE_MS);

    expect(machines(world)).toBe(0);
    expect(world.life.workers.plan('id-a').reason).toEqual({
      code: 'price-unknown',
      with: { budget: 'ml', offers: OFFER.id },
    });
    expect(budgetsOf(world).find('ml')?.unpriced).toEqual([{ pool: 'a', kind: 'sim', offer: OFFER.id }]);
  });

  it('counts a price that a document of others states only where it is above that of the cloud', async () => {
    for (const [stated, most] of [
      [1, 2],
      [5, 2],
      [4, 2],
    ] as const) {
      const foreign = pool('a', {}, { terms: { [OFFER.id]: { pricePerHour: stated } } });
      const cloud = { pricePerHour: () => 4 };
      const world = await openBudgetWorld({ pools: [foreign], budgets: [hour(10)], cloud, trust: undefined });
      await world.life.submit('a', 5, HOUR_MS);
      await world.advance(2 * MINUTE_MS);

      expect(machines(world)).toBe(most);
      expect(budgetsOf(world).find('ml')?.dollarsPerHour).toBe(2 * Math.max(stated, 4));
    }
  });

  it('counts a stated price where the cloud has none only if the operator allows that', async () => {
    for (const [trust, most] of [
      ['where the cloud has none', 3],
      [undefined, 0],
    ] as const) {
      const world = await openBudgetWorld({ pools: [pool('a')], budgets: [hour(10)], trust });
      await world.life.submit('a', 5, HOUR_MS);
      await world.advance(2 * MINUTE_MS);

      expect(machines(world)).toBe(most);
    }
  });

  it('keeps what was spent over a restart, and over the end of a pool', async () => {
    const world = await openBudgetWorld({
      pools: [pool('ml-a'), pool('ml-b')],
      budgets: [month(900, { pools: ['ml-*'] })],
    });
    await world.life.submit('ml-a', 2, HOUR_MS);
    await world.life.submit('ml-b', 1, 5 * HOUR_MS);
    await world.advance(2 * HOUR_MS);
    const removal = { at: world.clock.now(), deadlineAt: world.clock.now(), why: 'gone' };
    await world.set({ ...pool('ml-a'), removal });
    await world.advance(5 * MINUTE_MS);
    await world.life.store.commit([{ table: 'pools', id: 'id-ml-a', row: undefined }]);
    const before = spentOf(world, 'ml');
    expect(before).toBeGreaterThan(12);

    world.crash();
    await world.start();
    await world.advance(SECOND_MS);

    expect(spentOf(world, 'ml')).toBeCloseTo(before + (3 * SECOND_MS) / HOUR_MS, 6);
  });

  it('counts the time of a parked machine before it was stopped, and again when it is woken', async () => {
    const parks = pool('a', { maxIdleSlots: 0 });
    const world = await openBudgetWorld({ pools: [parks], budgets: [month(900)], cloud: { park: { most: 1 } } });
    const bill = { dollars: 0 };
    for (let round = 0; round < 3; round += 1) {
      await world.life.submit('a', 1, HOUR_MS);
      await world.advance(3 * HOUR_MS);
      bill.dollars += 3;
      expect(world.phases('id-a')).toBe('1 parked');
    }
    const spent = spentOf(world, 'ml');
    expect(spent).toBeGreaterThanOrEqual(bill.dollars);
    expect(spent).toBeLessThan(bill.dollars + 3 * 3 * (4 / 60));

    world.crash();
    await world.start();
    await world.advance(SECOND_MS);
    expect(spentOf(world, 'ml')).toBeCloseTo(spent, 6);
  });

  it('follows prices that rise from the moment that they do', async () => {
    const startMs = Date.UTC(2026, 0, 10);
    const roseMs = startMs + 90 * MINUTE_MS;
    let now = (): number => startMs;
    const cloud = { pricePerHour: () => (now() < roseMs ? 2 : 5) };
    const world = await openBudgetWorld({
      pools: [pool('a', {}, { terms: {} })],
      startMs,
      budgets: [month(900)],
      cloud,
    });
    now = () => world.clock.now();
    const prices = [
      { from: startMs, perHour: 2 },
      { from: roseMs, perHour: 5 },
    ];
    const bill = openBill(world.cloud, now, () => prices);
    await world.life.submit('a', 1, 6 * HOUR_MS);
    await world.advance(7 * HOUR_MS);

    // A price is asked for once an hour: an hour at the old one at the most.
    expect(bill.dollars() - spentOf(world, 'ml')).toBeLessThanOrEqual(3);
    expect(spentOf(world, 'ml')).toBeGreaterThan(6 * 4);
  });
});

describe('the events of a budget', () => {
  it('say half, four fifths and all of the month, each once, also over a restart', async () => {
    const world = await openBudgetWorld({ pools: [pool('a')], budgets: [month(30, { end: 'warn' })] });
    await world.life.submit('a', 1, 30 * HOUR_MS);
    await world.advance(9 * HOUR_MS);
    world.crash();
    await world.start();
    await world.advance(3 * HOUR_MS);

    expect(events(world, 'budget.reached')).toEqual([
      'Budget ml has reached 50 % of per_month $30.00: $15.00 in 2026-01.',
      'Budget ml has reached 80 % of per_month $30.00: $24.00 in 2026-01.',
      'Budget ml has reached 100 % of per_month $30.00: $30.00 in 2026-01.',
    ]);
    expect(world.phases('id-a')).toBe('1 busy');
  });

  it('say that an hour costs more, once until it costs much less', async () => {
    const world = await openBudgetWorld({ pools: [pool('a')], budgets: [hour(5, { end: 'warn' })] });
    await world.life.submit('a', 2, HOUR_MS);
    await world.advance(30 * MINUTE_MS);
    await world.life.submit('a', 1, HOUR_MS);
    await world.advance(10 * MINUTE_MS);

    expect(events(world, 'budget.exceeded')).toEqual([
      'The machines of budget ml cost $6.00 an hour, more than per_hour $5.00.',
    ]);
  });

  it('forecast the month from what runs now', async () => {
    const world = await openBudgetWorld({ pools: [pool('a')], startMs: Date.UTC(2026, 0, 30), budgets: [month(100)] });
    await world.life.submit('a', 1, 2 * DAY_MS);
    await world.advance(10 * HOUR_MS);

    const { spent = 0, forecast, spentAt } = budgetsOf(world).find('ml') ?? {};
    expect(spent).toBeCloseTo(30, 0);
    expect(forecast).toBeCloseTo(48 * 3, 0);
    expect(spentAt).toBeCloseTo(world.clock.now() + ((100 - spent) / 3) * HOUR_MS, -3);
  });
});
