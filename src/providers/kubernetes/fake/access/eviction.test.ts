import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../objects/object.ts';
import { aPod, openScene, PODS, type Scene } from '../testing.ts';

const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

const evict = ({ post }: Scene, name: string, more: object = {}, query = '') =>
  post(`${PODS}/${name}/eviction${query}`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more });

const budget = ({ post }: Scene, name: string, spec: object) =>
  post(BUDGETS, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });

async function withPods(count: number, spec: object): Promise<Scene> {
  const scene = openScene({ nodes: [{ name: 'n' }] });
  for (let at = 0; at < count; at++) await scene.post(PODS, aPod(`p${at}`, {}, { app: 'web' }));
  await scene.clock.advance(5_000);
  await budget(scene, 'web', spec);
  await scene.clock.advance(1_000);
  return scene;
}

const allowed = ({ fake }: Scene) =>
  fieldsOf(fake.object('poddisruptionbudgets.policy', 'default', 'web')?.status).disruptionsAllowed;

describe('a budget', () => {
  test('lets as many pods go as it has to spare, and no more until another is ready', async () => {
    const scene = await withPods(2, { minAvailable: 1 });
    expect(allowed(scene)).toBe(1);

    expect((await evict(scene, 'p0')).status).toBe(201);
    expect(allowed(scene)).toBe(0);
    const refused = await evict(scene, 'p1');
    expect(refused).toMatchObject({
      status: 429,
      body: {
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ reason: 'DisruptionBudget' }] },
      },
    });
    expect(refused.headers.has('retry-after')).toBe(false);
    await scene.clock.advance(60_000);
    expect((await evict(scene, 'p1')).body).toMatchObject({
      details: { causes: [{ message: 'The disruption budget web needs 1 healthy pods and has 1 currently' }] },
    });

    await scene.post(PODS, aPod('p2', {}, { app: 'web' }));
    await scene.clock.advance(5_000);

    expect(allowed(scene)).toBe(1);
    expect((await evict(scene, 'p1')).status).toBe(201);
  });

  test('that was not looked at yet lets no pod go, and says when to ask again', async () => {
    const scene = await withPods(2, { minAvailable: 1 });
    await scene.patch(`${BUDGETS}/web`, { spec: { minAvailable: 0 } });

    const { status, headers } = await evict(scene, 'p0');

    expect([status, headers.get('retry-after')]).toEqual([429, '10']);
  });

  test('that needs the size of an owner lets no pod without one go', async () => {
    const scene = await withPods(2, { maxUnavailable: 1 });

    expect((await evict(scene, 'p0')).body).toMatchObject({
      details: { causes: [{ message: expect.stringContaining('failed sync: found no controllers for pod') }] },
    });
  });

  test('counts what the owners of its pods want', async () => {
    const scene = openScene({ nodes: [{ name: 'n' }] });
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main:1' }] } };
    await scene.post('/apis/apps/v1/namespaces/default/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 4, selector: { matchLabels: labels }, template },
    });
    await budget(scene, 'web', { maxUnavailable: '50%' });

    await scene.clock.advance(10_000);

    expect(allowed(scene)).toBe(2);
  });

  test('beside another of the same pod keeps it for ever', async () => {
    const scene = await withPods(2, { minAvailable: 0 });
    await budget(scene, 'more', { minAvailable: 0 });
    await scene.clock.advance(1_000);

    expect(await evict(scene, 'p0')).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('more than one PodDisruptionBudget') },
    });
  });

  test('is not spent by a try, nor by an eviction of another pod of that name', async () => {
    const scene = await withPods(1, { minAvailable: 0 });

    expect((await evict(scene, 'p0', {}, '?dryRun=All')).status).toBe(201);
    expect((await evict(scene, 'p0', { deleteOptions: { preconditions: { uid: 'x' } } })).status).toBe(409);

    expect(allowed(scene)).toBe(1);
    expect(scene.fake.object('pods', 'default', 'p0')?.metadata.deletionTimestamp).toBeUndefined();
  });
});
