import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openAnswering, type RecordedCall } from './answering.ts';
import type { WireCall } from './failure-rules.ts';
import { openBuckets } from './limits.ts';
import { cursorOf, inOrder, type PageQuestion, pageOf } from './paging.ts';
import { refusal } from './refusal.ts';
import { follow, nextStepMs, type Step, stepAt } from './timeline.ts';

const tooMuch = (): Error => refusal('slow_down', 'Too many requests.', 429);

/** A cloud with one thing to count up. */
function openCounter() {
  const clock = new VirtualClock();
  let count = 0;
  const take = openBuckets<WireCall>({
    limits: () => () => [{ limit: { bucket: 'all', size: 2, perSecond: 1 }, count: 1 }],
    tooMuch,
  });
  const fake = openAnswering<WireCall, RecordedCall>(
    {
      read: async ({ url }) => ({ service: 'counter', action: new URL(url).pathname.slice(1), region: '' }),
      record: (call, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer(call) {
        if (call.action !== 'add') throw refusal('unknown_action', 'There is no such action.', 404);
        take(call, clock.now());
        count += 1;
        return Response.json({ count });
      },
      refuse: (_call, { code, status }) => Response.json({ code }, { status }),
      tooMuch,
    },
    clock,
  );
  const ask = async (action: string): Promise<number> => (await fake.fetch(`http://counter/${action}`)).status;
  return { clock, fake, ask, count: () => count };
}

describe('a fake cloud', () => {
  it('records each call with its outcome, and refuses in its own words', async () => {
    const { fake, ask } = openCounter();
    fake.failureRules.add({ action: 'add', after: 1, what: { kind: 'lost reply' } });

    const statuses = [await ask('add'), await ask('subtract')];
    await expect(ask('add')).rejects.toThrow('fetch failed');

    expect(statuses).toEqual([200, 404]);
    expect(fake.calls.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['add', 'ok'],
      ['subtract', 'unknown_action'],
      ['add', 'lost reply'],
    ]);
    expect(fake.countOf('add')).toBe(2);
  });

  it('carries out a call whose reply is lost, and none whose request is lost or throttled', async () => {
    const { fake, ask, count } = openCounter();
    for (const kind of ['lost reply', 'lost request', 'no such host'] as const) {
      fake.failureRules.add({ what: { kind } });
      await expect(ask('add')).rejects.toThrow('fetch failed');
    }
    fake.failureRules.add({ what: { kind: 'throttle' } });

    expect(await ask('add')).toBe(429);
    expect(count()).toBe(1);
  });

  it('limits calls by buckets that refill with time', async () => {
    const { clock, ask } = openCounter();

    const statuses = [await ask('add'), await ask('add'), await ask('add')];
    await clock.advance(1_000);
    statuses.push(await ask('add'), await ask('add'));

    expect(statuses).toEqual([200, 200, 429, 200, 429]);
  });
});

describe('pages', () => {
  const words = ['a', 'b', 'c'];
  const question: PageQuestion = { of: 'q', token: undefined, size: 2, nowMs: 0, emptyPages: 1, tokenLifeMs: 1_000 };
  function page(more: Partial<PageQuestion>) {
    const asked = { ...question, ...more };
    const cursor = cursorOf(asked);
    return (
      cursor &&
      pageOf(
        asked,
        cursor,
        inOrder(words, (word) => word),
      )
    );
  }

  it('follow one another to the end, with empty ones between', () => {
    const seen: (readonly string[])[] = [];
    for (let token: string | undefined, isLast = false; !isLast; isLast = token === undefined) {
      const next = page({ token });
      seen.push(next?.items ?? ['refused']);
      token = next?.token;
    }

    expect(seen).toEqual([[], ['a', 'b'], [], ['c']]);
  });

  it.each([
    ['another question', { of: 'other' }],
    ['a later time', { nowMs: 1_001 }],
    ['a token that is no token', { token: 'x' }],
  ])('are refused to %s', (_what, more) => {
    expect(page({ token: page({})?.token, ...more })).toBeUndefined();
  });
});

it('a timeline says which state is when, and new steps replace those to come', () => {
  const made: readonly Step<string>[] = [
    { atMs: 0, state: 'booting' },
    { atMs: 10, state: 'running' },
  ];
  const ended = follow(made, [{ atMs: 5, state: 'gone' }]);

  expect([-1, 0, 10, 11].map((atMs) => stepAt(made, atMs)?.state)).toEqual([
    undefined,
    'booting',
    'running',
    'running',
  ]);
  expect(ended.map(({ state }) => state)).toEqual(['booting', 'gone']);
  expect([nextStepMs(made, 0), nextStepMs(made, 10)]).toEqual([10, undefined]);
});
