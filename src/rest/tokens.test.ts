import { expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openTokens } from './tokens.ts';

function setUp() {
  const clock = new VirtualClock();
  const state = { asked: 0, isAway: false };
  const tokens = openTokens({
    clock,
    async renew() {
      state.asked += 1;
      await clock.sleep(100);
      if (state.isAway) throw new Fault('unavailable', 'No token.');
      return { value: `t${state.asked}`, expiresAt: clock.now() + HOUR_MS };
    },
  });
  const get = async (): Promise<string> => {
    const got = tokens.get();
    got.catch(() => {});
    await clock.advance(100);
    return got;
  };
  return { clock, state, tokens, get };
}

it('a token is asked for once, however many need it', async () => {
  const { clock, state, tokens } = setUp();
  const all = Promise.all([tokens.get(), tokens.get(), tokens.get()]);
  await clock.advance(100);

  expect(await all).toEqual(['t1', 't1', 't1']);
  expect(state.asked).toBe(1);
});

it('it is renewed before it expires, without anyone waiting', async () => {
  const { clock, state, tokens, get } = setUp();
  await get();
  await clock.advance(HOUR_MS - 4 * 60_000);

  expect(await tokens.get()).toBe('t1');
  await clock.advance(100);
  expect(await tokens.get()).toBe('t2');
  expect(state.asked).toBe(2);
});

it('while it is good a failed renewal is tried again later, and harms no call', async () => {
  const { clock, state, get } = setUp();
  await get();
  state.isAway = true;
  await clock.advance(HOUR_MS - 4 * 60_000);

  expect([await get(), await get(), await get()]).toEqual(['t1', 't1', 't1']);
  expect(state.asked).toBe(2);
  await clock.advance(30_000);
  expect(await get()).toBe('t1');
  expect(state.asked).toBe(3);

  await clock.advance(3 * 60_000);
  await expect(get()).rejects.toMatchObject({ kind: 'unavailable' });
});

it('one that the cloud refused is not used again', async () => {
  const { tokens, get } = setUp();
  tokens.refused(await get());

  expect(await get()).toBe('t2');
});

it('where the cloud gives the same token again, it is asked every half minute, not for each call', async () => {
  const clock = new VirtualClock();
  const token = { value: 't', expiresAt: clock.now() + 4 * 60_000 };
  let asked = 0;
  const tokens = openTokens({
    clock,
    first: token,
    async renew() {
      asked += 1;
      return token;
    },
  });
  for (let at = 0; at < 5; at++) {
    await tokens.get();
    await clock.advance(10_000);
  }

  expect(asked).toBe(2);
});
