import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { Notice } from '../notices.ts';
import watchScheduledEvents from './azure.ts';

const EVENT = {
  EventId: 'e1',
  EventStatus: 'Scheduled',
  EventType: 'Preempt',
  ResourceType: 'VirtualMachine',
  Resources: ['m-gpu-1'],
  NotBefore: 'Mon, 16 Nov 2026 10:02:00 GMT',
};

function setUp(name = 'm-gpu-1') {
  const clock = new VirtualClock();
  const state = { text: '{"DocumentIncarnation": 1, "Events": []}', isAway: false, asked: 0 };
  const answer: typeof fetch = async (input, init) => {
    if (state.isAway) throw new TypeError('fetch failed');
    if (new Headers(init?.headers).get('metadata') !== 'true') return new Response('', { status: 400 });
    if (String(input).startsWith('http://imds/metadata/instance/compute/name?')) return new Response(name);
    state.asked += 1;
    return new Response(state.text);
  };
  const heard: Notice[] = [];
  const variable = (key: string) => (key === 'AZURE_METADATA_URL' ? 'http://imds/' : undefined);
  const watching = watchScheduledEvents(
    { variable, clock, fetch: answer, log: silentLog },
    (one) => void heard.push(one),
  );
  const say = (...events: readonly object[]) => {
    state.text = JSON.stringify({ DocumentIncarnation: 2, Events: events });
  };
  return { clock, state, heard, watching, say };
}

it('an eviction is heard within seconds, and once', async () => {
  const { clock, heard, say } = setUp();
  await clock.advance(60_000);
  const before = [...heard];
  say(EVENT);
  await clock.advance(3_000);
  await clock.advance(60_000);

  expect(before).toEqual([]);
  expect(heard).toEqual([{ why: 'the cloud reclaims its machine (Preempt)', endsAt: Date.parse(EVENT.NotBefore) }]);
});

it('what is about another machine of the set, or does not end this one, is no notice', async () => {
  const { clock, heard, say } = setUp('m-gpu-2');
  say(EVENT, { ...EVENT, EventType: 'Freeze', Resources: ['m-gpu-2'] });
  await clock.advance(60_000);

  expect(heard).toEqual([]);
});

it('an event that has begun names no time: it counts from now', async () => {
  const { clock, heard, say } = setUp();
  say({ ...EVENT, EventStatus: 'Started', NotBefore: '' });
  await clock.advance(1_000);

  expect(heard).toHaveLength(1);
  expect(heard[0]?.endsAt).toBeGreaterThan(clock.now());
});

it('metadata that is away is asked again until it is back', async () => {
  const { clock, state, heard, say } = setUp();
  state.isAway = true;
  say(EVENT);
  await clock.advance(60_000);
  state.isAway = false;
  await clock.advance(5_000);

  expect(heard).toHaveLength(1);
});

it.each(['', 'no json', '{}', '{"Events": 1}'])('an answer like %j says nothing', async (text) => {
  const { clock, state, heard } = setUp();
  state.text = text;
  await clock.advance(30_000);

  expect(heard).toEqual([]);
});

it('nothing is asked after it was stopped', async () => {
  const { clock, state, watching } = setUp();
  await clock.advance(10_000);
  watching.stop();
  const { asked } = state;
  await clock.advance(60_000);

  expect(state.asked).toBe(asked);
});
