import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { Notice } from '../notices.ts';
import watchSpot from './aws.ts';

const NOTICE = { action: 'terminate', time: '2026-11-16T10:02:00Z' };

/** The metadata of one machine: version 2, which wants a token first. */
function metadata() {
  const state = { notice: undefined as string | undefined, token: 't1', isAway: false, asked: 0 };
  const answer: typeof fetch = async (input, init) => {
    const path = String(input).replace('http://imds/latest/', '');
    if (state.isAway) throw new TypeError('fetch failed');
    if (path === 'api/token' && init?.method === 'PUT') return new Response(state.token);
    if (new Headers(init?.headers).get('x-aws-ec2-metadata-token') !== state.token)
      return new Response('', { status: 401 });
    state.asked += 1;
    return state.notice === undefined ? new Response('', { status: 404 }) : new Response(state.notice);
  };
  return { state, fetch: answer };
}

function setUp() {
  const clock = new VirtualClock();
  const { state, fetch } = metadata();
  const heard: Notice[] = [];
  const variable = (name: string) => (name === 'AWS_EC2_METADATA_SERVICE_ENDPOINT' ? 'http://imds/' : undefined);
  const watching = watchSpot({ variable, clock, fetch, log: silentLog }, (notice) => void heard.push(notice));
  return { clock, state, heard, watching };
}

it('a notice is heard within seconds, and once', async () => {
  const { clock, state, heard } = setUp();
  await clock.advance(60_000);
  const before = [...heard];

  state.notice = JSON.stringify(NOTICE);
  await clock.advance(6_000);
  await clock.advance(60_000);

  expect(before).toEqual([]);
  expect(heard).toEqual([{ why: 'the cloud reclaims its machine (terminate)', endsAt: Date.parse(NOTICE.time) }]);
});

it('a token that is no longer good is asked for anew', async () => {
  const { clock, state, heard } = setUp();
  await clock.advance(10_000);

  state.token = 't2';
  state.notice = JSON.stringify(NOTICE);
  await clock.advance(15_000);

  expect(heard).toHaveLength(1);
});

it('metadata that is away is asked again until it is back', async () => {
  const { clock, state, heard } = setUp();
  state.isAway = true;
  await clock.advance(60_000);

  state.isAway = false;
  state.notice = JSON.stringify(NOTICE);
  await clock.advance(10_000);

  expect(heard).toHaveLength(1);
});

it.each(['', 'no json', '{}', '{"action":"terminate","time":"soon"}'])(
  'a notice like %j says nothing',
  async (text) => {
    const { clock, state, heard } = setUp();

    state.notice = text;
    await clock.advance(30_000);

    expect(heard).toEqual([]);
  },
);

it('nothing is asked after it was stopped', async () => {
  const { clock, state, watching } = setUp();
  await clock.advance(10_000);

  watching.stop();
  const { asked } = state;
  await clock.advance(60_000);

  expect(state.asked).toBe(asked);
});
