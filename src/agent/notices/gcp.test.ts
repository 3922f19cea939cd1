import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { Notice } from '../notices.ts';
import watchPreemption from './gcp.ts';

function setUp() {
  const clock = new VirtualClock();
  const state = { answer: 'FALSE', isAway: false, isHanging: false, asked: 0 };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    state.asked += 1;
    if (state.isAway) throw new TypeError('fetch failed');
    if (state.isHanging)
      return new Promise((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(new TypeError('aborted'))),
      );
    const isRight =
      String(input) === 'http://metadata:1/computeMetadata/v1/instance/preempted' &&
      new Headers(init?.headers).get('metadata-flavor') === 'Google';
    return isRight ? new Response(state.answer) : new Response('', { status: 403 });
  };
  const heard: Notice[] = [];
  const variable = (name: string) => (name === 'GCE_METADATA_HOST' ? 'metadata:1' : undefined);
  const watching = watchPreemption({ variable, clock, fetch, log: silentLog }, (notice) => void heard.push(notice));
  return { clock, state, heard, watching };
}

it('a preemption is heard within seconds, once, and with an end before that of the machine', async () => {
  const { clock, state, heard } = setUp();
  await clock.advance(60_000);
  const before = [...heard];

  state.answer = 'TRUE';
  const endMs = clock.now() + 30_000;
  await clock.advance(3_000);
  await clock.advance(60_000);

  expect(before).toEqual([]);
  expect(heard).toHaveLength(1);
  expect(heard[0]?.why).toContain('preemption');
  expect(heard[0]?.endsAt).toBeLessThanOrEqual(endMs);
  expect(heard[0]?.endsAt).toBeGreaterThan(endMs - 5_000);
});

it('metadata that is away or does not answer is asked again until it is back', async () => {
  const { clock, state, heard } = setUp();
  state.isAway = true;
  await clock.advance(20_000);
  state.isAway = false;
  state.isHanging = true;
  await clock.advance(20_000);

  state.isHanging = false;
  state.answer = 'TRUE';
  await clock.advance(10_000);

  expect(heard).toHaveLength(1);
});

it('nothing is asked after it was stopped', async () => {
  const { clock, state, watching } = setUp();
  await clock.advance(10_000);

  watching.stop();
  const { asked } = state;
  await clock.advance(60_000);

  expect(state.asked).toBe(asked);
});
