import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { memorySet, openRuntimesScene, staticSet } from './testing/scene.ts';

const answering = (statuses: number[]): typeof fetch =>
  (async () =>
    new Response('', { status: (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200 })) as typeof fetch;

test('the server address for runtimes is checked at start and at each interval; a change makes an event', async () => {
  const serverUrl = 'https://muster.test';
  const scene = await openRuntimesScene({ settings: memorySet({ serverUrl }), fetch: answering([503, 503, 200]) });

  await scene.clock.advance(60 * MINUTE_MS);

  expect(await scene.events()).toEqual([
    'GET https://muster.test/healthz answered 503.',
    'The server address for runtimes, https://muster.test, is reachable.',
  ]);
  await scene.stop();
});

test.each(['http://localhost:8081', 'http://127.0.0.1:8081', 'http://a.localhost', 'http://[::1]:8081'])(
  '%s is no address for runtimes in a cluster',
  async (serverUrl) => {
    const scene = await openRuntimesScene({ settings: memorySet({ serverUrl }), fetch: answering([200]) });
    await scene.clock.advance(1_000);

    expect((await scene.events())[0]).toMatch(
      /^Runtimes in a cluster cannot reach .*: it means their own machine there\.$/,
    );
    await scene.stop();
  },
);

test('where all provisioners are static, or no address is given, nothing is asked', async () => {
  const settings = { ...staticSet(1, 1), serverUrl: 'http://localhost' };
  const scene = await openRuntimesScene({ settings });
  const other = await openRuntimesScene();
  await scene.clock.advance(MINUTE_MS);
  await other.clock.advance(MINUTE_MS);

  expect([...(await scene.events()), ...(await other.events())]).toEqual([]);
  await scene.stop();
  await other.stop();
});
