import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aCluster, CA, openScene, type Scene, SEED, SERVICE_ACCOUNT } from '../testing.ts';

function setUp(): Scene {
  const scene = openScene();
  scene.writeCredentials(SERVICE_ACCOUNT);
  return scene;
}

it('opens the cluster of the seed: address and authority from Google, and a token', async () => {
  const scene = setUp();
  const access = await scene.during(scene.open());
  const { headers, tls } = await scene.during(access.credential(going()));

  expect(access.server).toBe('https://34.1.2.3');
  expect(tls).toEqual({ ca: CA });
  expect(headers.authorization).toMatch(/^Bearer ya29\./);
  // The token that found the cluster is the one that opens it.
  expect(scene.fake.asked()).toBe(1);
});

it('a token that grew old before the first request is renewed', async () => {
  const scene = setUp();
  const access = await scene.during(scene.open());
  await scene.clock.advance(2 * 3_600_000);
  const { headers } = await scene.during(access.credential(going()));

  expect(scene.fake.world.granted.whose(headers.authorization?.slice(7))).toBeDefined();
});

it('a mistyped cluster is refused with the nearest one, and one of another location with that', async () => {
  const scene = setUp();
  const { clusters } = scene.fake.world;
  clusters.set(
    'projects/my-gcp-project/locations/europe-west4-a/clusters/batch',
    aCluster({ name: 'batch', location: 'europe-west4-a' }),
  );
  const refusalOf = (changes: object) => scene.during(scene.open({ ...SEED, ...changes })).catch((fault) => fault);

  expect(await refusalOf({ clusterName: 'velda-clutser' })).toMatchObject({
    kind: 'missing',
    remedy: 'Did you mean velda-cluster in us-central1?',
  });
  expect(await refusalOf({ clusterName: 'batch' })).toMatchObject({
    remedy: 'Set location to europe-west4-a: batch is there.',
  });
  expect(await refusalOf({ clusterName: 'x' })).toMatchObject({
    remedy: 'The project has: velda-cluster in us-central1, batch in europe-west4-a.',
  });
  scene.fake.world.denied.add('container.clusters.list');
  expect(await refusalOf({ clusterName: 'x' })).toMatchObject({
    kind: 'missing',
    remedy: 'Check project, location and cluster_name: gcloud container clusters list.',
  });
});

it('a missing right is named, and so is an API that is not enabled', async () => {
  const scene = setUp();
  scene.fake.world.denied.add('container.clusters.get');
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('container.clusters.get'),
    remedy: expect.stringContaining('roles/container.clusterViewer'),
  });

  scene.fake.world.withoutApi.add('my-gcp-project');
  await expect(scene.during(scene.open())).rejects.toMatchObject({
    kind: 'denied',
    remedy: 'Enable the API in the project: gcloud services enable container.googleapis.com --project my-gcp-project.',
  });
});

it('waits out a throttled moment, a lost reply and the page of a gateway', async () => {
  const scene = setUp();
  scene.fake.failureRules.add({ what: { kind: 'throttle' }, service: 'container' });
  scene.fake.failureRules.add({ what: { kind: 'lost reply' }, service: 'oauth2' });
  scene.fake.failureRules.add({ what: { kind: 'garbage' }, service: 'container', after: 1 });

  expect((await scene.during(scene.open())).server).toBe('https://34.1.2.3');
});
