import { expect, test } from 'vitest';
import { DEFAULT_AGENT_LEASE_MS } from '#core/defaults.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startLease } from './lease.ts';

function aLease(ownLengthMs?: number) {
  const clock = new VirtualClock();
  let expiries = 0;
  const lease = startLease(clock, ownLengthMs, () => {
    expiries += 1;
  });
  return { clock, lease, expiries: () => expiries };
}

test('it runs from the start: an agent that is never let in stops too', async () => {
  const { clock, expiries } = aLease();

  await clock.advance(DEFAULT_AGENT_LEASE_MS - 1);
  expect(expiries()).toBe(0);
  await clock.advance(1);

  expect(expiries()).toBe(1);
});

test('it stands still while connected and begins anew with each loss', async () => {
  const { clock, lease, expiries } = aLease(1_000);

  await clock.advance(999);
  lease.connected();
  await clock.advance(1_000_000);
  lease.lost();
  await clock.advance(999);
  expect(expiries()).toBe(0);
  await clock.advance(1);

  expect(expiries()).toBe(1);
});

test('being refused again and again does not make it longer', async () => {
  const { clock, lease, expiries } = aLease(1_000);

  await clock.advance(600);
  lease.lost();
  await clock.advance(400);

  expect(expiries()).toBe(1);
});

test('the server sets its length, unless the machine itself does', async () => {
  const [free, bound] = [aLease(), aLease(1_000)];

  for (const { clock, lease } of [free, bound]) {
    lease.connected(5_000);
    lease.lost();
    await clock.advance(4_999);
  }

  expect([free.expiries(), bound.expiries()]).toEqual([0, 1]);
  await free.clock.advance(1);
  expect(free.expiries()).toBe(1);
});

test('once stopped it never runs again: nothing keeps a process that is about to exit', async () => {
  const { clock, lease, expiries } = aLease(1_000);
  lease.connected();

  lease.stop();
  lease.lost();

  expect(clock.nextAlarmMs()).toBeUndefined();
  await clock.advance(2_000);
  expect(expiries()).toBe(0);
});
