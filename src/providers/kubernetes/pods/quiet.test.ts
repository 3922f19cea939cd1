import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { AGENT_POD, going, openKubeScene, openPodsAt } from '../testing.ts';

it('a listing of a quiet cluster never waits, and costs the API server ten requests a minute', async () => {
  const scene = openKubeScene();
  const { clock, fake } = scene;
  const backend = await openPodsAt(scene);
  await scene.kubectl('POST', '/api/v1/namespaces/default/pods', { ...AGENT_POD, metadata: { name: 'theirs' } });
  await scene.during(backend.list(going()));
  await clock.advance(MINUTE_MS);
  const before = fake.calls.length;
  let waited = 0;
  for (let second = 0; second < 600; second++) {
    let isListed = false;
    void backend.list(going()).then(() => {
      isListed = true;
    });
    await clock.settle();
    if (!isListed) waited += 1;
    await clock.advance(SECOND_MS);
  }

  expect(waited).toBe(0);
  expect(new Set(fake.calls.slice(before).map(({ action }) => action))).toEqual(new Set(['watch pods']));
  expect(fake.calls.length - before).toBeLessThan(100);
});
