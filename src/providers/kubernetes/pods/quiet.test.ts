import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { BackendConfig } from '../config.ts';
import { othersIn } from '../fake/slice/others.ts';
import { AGENT_POD, CLUSTER, openKubeScene, openPodsAt } from '../testing.ts';
import { openPods } from './backend.ts';
import { labelsOf } from './marks.ts';

// More than are listed anew each time.
const MANY = 600;

/** A cluster with many pods of ours, all running, and a backend that has listed them. */
async function withManyPods() {
  const scene = openKubeScene({ nodes: Array.from({ length: 6 }, (_, at) => ({ name: `node-${at}` })) });
  const others = othersIn(scene.fake);
  const labels = labelsOf({ cluster: CLUSTER, use: 'worker', owner: 'p1', shape: 's1' });
  for (let at = 0; at < MANY; at++) {
    const metadata = { name: `m-${at}`, namespace: 'default', labels };
    others.create('pods', { apiVersion: 'v1', kind: 'Pod', ...AGENT_POD, metadata });
  }
  await scene.clock.advance(MINUTE_MS);
  const backend = await openPodsAt(scene);
  await scene.during(backend.list(going()));
  await scene.clock.advance(MINUTE_MS);
  return { ...scene, others, backend };
}

it('a listing of many quiet pods never waits, and costs the API server nine requests a minute', async () => {
  const { clock, fake, backend } = await withManyPods();
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

it('of many pods those that have not changed are the very same machines', async () => {
  const { clock, others, backend } = await withManyPods();
  const before = await backend.list(going());
  others.patch({ resource: 'pods', namespace: 'default', name: 'm-7' }, { metadata: { labels: { seen: 'yes' } } });
  await clock.advance(SECOND_MS);
  const after = await backend.list(going());

  const known = new Set(before);
  expect(after).toHaveLength(MANY);
  expect(after.filter((machine) => !known.has(machine)).map(({ name }) => name)).toEqual(['m-7']);
});

it('a second backend of the same server shows the very same machines: a pod is kept once, not once for each pool', async () => {
  const scene = await withManyPods();
  const context = scene.contextFor();
  const config = BackendConfig.parse({ template: AGENT_POD });
  const first = await openPods(config, context);
  const known = new Set(await scene.during(first.list(going())));
  const second = await openPods(config, context);
  const shown = await scene.during(second.list(going()));

  expect(shown).toHaveLength(MANY);
  expect(shown.filter((machine) => !known.has(machine))).toEqual([]);
});
