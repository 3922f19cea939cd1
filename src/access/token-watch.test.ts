import { expect, test, vi } from 'vitest';
import type { Role } from '#core/access.ts';
import { idMaker } from '#core/id.ts';
import { SELF } from '#core/journal.ts';
import { seededRandom } from '#core/random.ts';
import { append, put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { openTokenWatch } from './token-watch.ts';
import { openTokens } from './tokens.ts';

async function world() {
  const clock = new VirtualClock();
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  const random = seededRandom(1);
  const newId = idMaker(() => clock.now(), random);
  const event: Parameters<typeof openTokens>[0]['event'] = (about, actor = SELF) =>
    append('events', { id: newId(), at: clock.now(), ...actor, ...about });
  const tokens = openTokens({ store, clock, random, newId, event });
  const make = async (role: Role, more: { expiresAt?: number; parent?: string } = {}) =>
    (await tokens.create({ name: role, use: { role }, ...more }, SELF)).token;
  return { clock, store, tokens, make, watch: openTokenWatch({ store, clock }, tokens) };
}

test('what was begun with a token ends at once when that token, or the one that made it, is revoked', async () => {
  const { clock, tokens, make, watch } = await world();
  const [mine, other] = [await make('operator'), await make('operator')];
  const browser = await make('operator', { parent: mine.id });
  const ended = { mine: vi.fn(), again: vi.fn(), browser: vi.fn(), other: vi.fn() };
  watch(mine.id, 'viewer', ended.mine);
  watch(mine.id, 'operator', ended.again);
  watch(browser.id, 'operator', ended.browser);
  watch(other.id, 'operator', ended.other);

  await tokens.revoke(mine.id, SELF);
  await clock.advance(0);

  for (const called of [ended.mine, ended.again, ended.browser]) {
    expect(called).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: 'unauthenticated' }));
  }
  await clock.advance(60_000);
  expect(ended.mine).toHaveBeenCalledOnce();
  expect(ended.other).not.toHaveBeenCalled();
});

test('it ends at the moment the token expires, whatever other tokens are watched', async () => {
  const { clock, make, watch } = await world();
  const [short, long] = [await make('viewer', { expiresAt: clock.now() + 12_300 }), await make('viewer')];
  const [ended, lasting] = [vi.fn(), vi.fn()];
  watch(long.id, 'viewer', lasting);
  watch(short.id, 'viewer', ended);

  await clock.advance(12_299);
  expect(ended).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(ended).toHaveBeenCalledOnce();
  expect(lasting).not.toHaveBeenCalled();
});

test('it ends when the token loses the role that it needs, and goes on with one that is enough', async () => {
  const { clock, store, make, watch } = await world();
  const token = await make('admin');
  const [operator, viewer] = [vi.fn(), vi.fn()];
  watch(token.id, 'operator', operator);
  watch(token.id, 'viewer', viewer);

  await store.commit([put('tokens', { ...token, use: { role: 'viewer' } })]);
  await clock.advance(0);

  expect(operator).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ kind: 'denied', message: 'This needs the role operator; the token now has viewer.' }),
  );
  expect(viewer).not.toHaveBeenCalled();
});

test('a watch that begins after its token has ended says so, and never before the call returns', async () => {
  const { clock, tokens, make, watch } = await world();
  const token = await make('operator');
  await tokens.revoke(token.id, SELF);
  const ended = vi.fn();

  watch(token.id, 'operator', ended);
  const before = ended.mock.calls.length;
  await clock.advance(0);

  expect([before, ended.mock.calls.length]).toEqual([0, 1]);
});

test('a watch that was ended says nothing, and leaves no timer behind', async () => {
  const { clock, tokens, make, watch } = await world();
  const token = await make('operator');
  const ended = vi.fn();
  watch(token.id, 'operator', ended)();

  await tokens.revoke(token.id, SELF);
  await clock.advance(60_000);

  expect(ended).not.toHaveBeenCalled();
  expect(clock.nextAlarmMs()).toBeUndefined();
});

test('it ends within five seconds after someone has set the clock of the machine past the expiry', async () => {
  const { clock, make, watch } = await world();
  const token = await make('viewer', { expiresAt: clock.now() + 3_600_000 });
  const ended = vi.fn();
  watch(token.id, 'viewer', ended);

  clock.jump(7_200_000);
  await clock.advance(5_000);

  expect(ended).toHaveBeenCalledOnce();
});
