import { describe, expect, test } from 'vitest';
import type { RuntimeRequest } from '#core/runtime-host.ts';
import { going } from '#core/testing/going.ts';
import { openRuntimeScene, type RuntimeScene, TEXTS } from './testing.ts';

const GIB = 2 ** 30;
const SET_PATH = '/apis/apps/v1/namespaces/cloud-runtime/statefulsets/runtime-a';
const A: RuntimeRequest = { id: 'a', slots: 2, version: '0.62.0', annotations: { org: 'acme' }, environment: 'prod' };

const KINDS = [
  'statefulsets.apps',
  'deployments.apps',
  'services',
  'ingresses.networking.k8s.io',
  'persistentvolumeclaims',
];
const objectsIn = ({ fake }: RuntimeScene): readonly string[] =>
  KINDS.flatMap((kind) =>
    fake.objects(kind, 'cloud-runtime').map(({ metadata }) => `${kind.split('.')[0]}/${metadata.name}`),
  );

async function applied(scene: RuntimeScene, request = A) {
  const done = await scene.during(scene.host.apply(request, going()));
  await scene.clock.advance(5_000);
  return done;
}
const stateOf = (scene: RuntimeScene, request = A) => scene.during(scene.host.observe(request, going()));

describe('a runtime of a StatefulSet', () => {
  test('has four objects and a claim, labelled as ours, and is ready once it answers', async () => {
    const scene = await openRuntimeScene();
    expect(await stateOf(scene)).toEqual({ state: 'absent' });

    const { digest, grant } = await scene.during(scene.host.apply(A, going()));
    expect(await stateOf(scene)).toMatchObject({ state: 'coming', digest });
    await scene.clock.advance(5_000);

    expect(await stateOf(scene)).toEqual({ state: 'ready', digest });
    expect(objectsIn(scene)).toEqual([
      'statefulsets/runtime-a',
      'services/runtime-a',
      'ingresses/grpc-runtime-a',
      'ingresses/http-runtime-a',
      'persistentvolumeclaims/data-runtime-a-0',
    ]);
    const host = 'http://node-a.localhost';
    expect(grant).toEqual({ host, audience: host, dataDir: '/mnt/data', cpu: 2, memoryGb: 8, storageBytes: 80 * GIB });
    const set = scene.fake.object('statefulsets.apps', 'cloud-runtime', 'runtime-a');
    expect(set?.metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'a', 'muster.io/runtime': 'a' });
    expect(await scene.during(scene.host.list(going()))).toEqual(['a']);
  });

  test('objects are compared by a dry run only when they differ from what was last compared or applied', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const dryRuns = () => scene.fake.calls.filter(({ query }) => query.has('dryRun')).length;

    expect([(await stateOf(scene)).state, dryRuns()]).toEqual(['ready', 0]);
    await scene.kubectl('PATCH', SET_PATH, { metadata: { annotations: { 'others.test/note': 'kept' } } });
    expect([(await stateOf(scene)).state, dryRuns()]).toEqual(['ready', 1]);
    expect([(await stateOf(scene)).state, dryRuns()]).toEqual(['ready', 1]);
  });

  test('a StatefulSet that others scaled to nothing is drifted before anything waits for its pods', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    await scene.kubectl('PATCH', SET_PATH, { spec: { replicas: 0 } });
    await scene.clock.advance(5_000);

    expect(await stateOf(scene)).toMatchObject({
      state: 'drifted',
      why: 'StatefulSet runtime-a was changed by others.',
    });
    await applied(scene);
    expect((await stateOf(scene)).state).toBe('ready');
  });

  test('a Service whose selector others changed is drifted though its runtime does not answer', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const selector = { 'app.kubernetes.io/name': 'nobody' };
    await scene.kubectl('PATCH', '/api/v1/namespaces/cloud-runtime/services/runtime-a', { spec: { selector } });

    expect(await stateOf(scene)).toMatchObject({ state: 'drifted', why: 'Service runtime-a was changed by others.' });
    await applied(scene);
    expect((await stateOf(scene)).state).toBe('ready');
  });

  test.each([
    ['serviceName', 'keeps', { serviceName: 'other' }],
    ['selector', 'replaces', { selector: { matchLabels: { org: 'acme' } } }],
  ])(
    'a StatefulSet that others made anew with another %s is made as ours again; that %s its pod',
    async (_field, how, spec) => {
      const scene = await openRuntimeScene();
      await applied(scene);
      const set = scene.fake.object('statefulsets.apps', 'cloud-runtime', 'runtime-a');
      const pod = () => scene.fake.object('pods', 'cloud-runtime', 'runtime-a-0')?.metadata.uid;
      await scene.kubectl('DELETE', `${SET_PATH}?propagationPolicy=Orphan`);
      await scene.clock.advance(5_000);
      const { name, labels, annotations } = set?.metadata ?? {};
      const anew = { metadata: { name, labels, annotations }, spec: { ...set?.spec, ...spec } };
      await scene.kubectl('POST', SET_PATH.replace('/runtime-a', ''), anew);
      await scene.clock.advance(5_000);
      const before = pod();

      expect(await stateOf(scene)).toMatchObject({ state: 'drifted', why: expect.stringContaining('StatefulSet') });
      await scene
        .during(scene.host.apply(A, going()))
        .catch((fault: Error) =>
          expect(fault.message).toBe('StatefulSet runtime-a is being replaced: a field of it can only be set anew.'),
        );
      await scene.clock.advance(5_000);
      await applied(scene);

      expect((await stateOf(scene)).state).toBe('ready');
      expect(scene.fake.object('statefulsets.apps', 'cloud-runtime', 'runtime-a')?.spec).toMatchObject({
        serviceName: 'cloud-runtime',
        selector: { matchLabels: { 'app.kubernetes.io/name': 'runtime-a' } },
      });
      expect(pod() === before).toBe(how === 'keeps');
    },
  );

  test('a service whose ports others changed, so that ours cannot stand beside them, is made anew', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    await stateOf(scene);
    const service = '/api/v1/namespaces/cloud-runtime/services/runtime-a';
    await scene.kubectl('PATCH', service, { spec: { ports: [{ name: 'http', port: 8181 }] } });

    expect(await stateOf(scene)).toMatchObject({ state: 'drifted', why: 'Service runtime-a was changed by others.' });
    await applied(scene);

    expect(await stateOf(scene)).toMatchObject({ state: 'ready' });
    const { spec } = scene.fake.object('services', 'cloud-runtime', 'runtime-a') ?? {};
    expect(spec?.ports).toMatchObject([{ port: 8080 }, { port: 9090 }]);
  });

  test('a service that is refused as invalid leaves the one that serves', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const before = scene.fake.object('services', 'cloud-runtime', 'runtime-a');
    scene.write('service', TEXTS.statefulset.service.replace('name: grpc', 'name: http'));

    const refused = scene.during(scene.host.apply(A, going()));

    await expect(refused).rejects.toThrow('spec.ports[1].name: Duplicate value: "http"');
    expect(scene.fake.object('services', 'cloud-runtime', 'runtime-a')).toEqual(before);
  });

  test('applied again it changes nothing', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const before = scene.fake.world.store.revision;

    await applied(scene);

    expect(scene.fake.world.store.revision).toBe(before);
  });

  test('objects that others removed or changed are found and put right', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    await stateOf(scene);
    await scene.kubectl('DELETE', '/api/v1/namespaces/cloud-runtime/services/runtime-a');
    expect(await stateOf(scene)).toMatchObject({ state: 'drifted', why: 'Service runtime-a is missing.' });
    await applied(scene);

    const path = '/apis/networking.k8s.io/v1/namespaces/cloud-runtime/ingresses/http-runtime-a';
    await scene.kubectl('PATCH', path, { spec: { rules: [] } });
    expect(await stateOf(scene)).toMatchObject({
      state: 'drifted',
      why: 'Ingress http-runtime-a was changed by others.',
    });
    await applied(scene);
    expect((await stateOf(scene)).state).toBe('ready');
  });

  test('objects of former templates are right where the digest of those is named, unless one is missing', async () => {
    const scene = await openRuntimeScene();
    const { digest: former } = await applied(scene);
    const before = await scene.host.render(A);
    scene.write('service', TEXTS.statefulset.service.replace('9090', '9091'));
    const seen = () => scene.during(scene.host.observe(A, going(), former));

    expect((await stateOf(scene)).state).toBe('drifted');
    expect((await seen()).state).toBe('ready');
    expect((await scene.host.render(A)).templates).not.toBe(before.templates);
    await scene.kubectl('DELETE', '/api/v1/namespaces/cloud-runtime/services/runtime-a');
    expect(await seen()).toMatchObject({ state: 'drifted', why: 'Service runtime-a is missing.' });
  });

  test('templates are named by their texts, not by when they were written', async () => {
    const scene = await openRuntimeScene();
    const before = await scene.host.render(A);
    scene.write('service', `${TEXTS.statefulset.service}# another`);
    scene.write('service', TEXTS.statefulset.service);

    expect((await scene.host.render({ ...A, id: 'b' })).templates).toBe(before.templates);
  });

  test('storage grows with its slots, and never shrinks; the grant tells the true size', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const claim = () => scene.fake.object('persistentvolumeclaims', 'cloud-runtime', 'data-runtime-a-0');
    const uid = claim()?.metadata.uid;
    const bigger = { ...A, slots: 4 };

    // The set is deleted without its pods first; the garbage collector takes its time.
    await scene.during(scene.host.apply(bigger, going())).catch(() => {});
    await scene.clock.advance(5_000);
    const { grant } = await applied(scene, bigger);
    expect(claim()).toMatchObject({
      metadata: { uid },
      spec: { resources: { requests: { storage: String(160 * GIB) } } },
    });
    expect(grant.storageBytes).toBe(160 * GIB);
    expect((await stateOf(scene, bigger)).state).toBe('ready');

    const smaller = await applied(scene, A);
    expect(smaller.grant).toMatchObject({ cpu: 2, storageBytes: 160 * GIB });
    expect((await stateOf(scene)).state).toBe('ready');
  });

  test('a claim that cannot grow does not hold back processors and memory, and is tried again with the next apply', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const message = 'only dynamically provisioned pvc can be resized';
    const what = { kind: 'error', code: 'Forbidden', status: 403, message } as const;
    const mend = scene.fake.failureRules.add({ action: 'patch persistentvolumeclaims', what, times: 9 });
    const bigger = { ...A, slots: 4 };

    const { grant } = await applied(scene, bigger);

    expect(grant).toMatchObject({ cpu: 4, memoryGb: 16, storageBytes: 80 * GIB });
    expect(await stateOf(scene, bigger)).toMatchObject({
      state: 'ready',
      trouble: expect.stringMatching(
        /^PersistentVolumeClaim data-runtime-a-0 cannot grow to 160 GiB: .*can be resized/,
      ),
    });
    mend();
    await scene.during(scene.host.apply(bigger, going())).catch(() => {});
    await scene.clock.advance(5_000);
    expect((await applied(scene, bigger)).grant.storageBytes).toBe(160 * GIB);
    const after = await stateOf(scene, bigger);
    expect([after.state, after.trouble]).toEqual(['ready', undefined]);
  });

  test('a StatefulSet whose pods never became ready is made anew with what is right, on the same claim', async () => {
    const scene = await openRuntimeScene();
    const ofSet = () => scene.fake.object('statefulsets.apps', 'cloud-runtime', 'runtime-a')?.metadata.uid;
    const ofClaim = () =>
      scene.fake.object('persistentvolumeclaims', 'cloud-runtime', 'data-runtime-a-0')?.metadata.uid;
    await applied(scene);
    const claim = ofClaim();
    scene.write('statefulset', TEXTS.statefulset.statefulset.replace('cpu: {{ .CPU }}', 'cpu: 999999'));
    await applied(scene);
    const stuck = ofSet();
    expect((await stateOf(scene)).state).toBe('coming');
    scene.write('statefulset', TEXTS.statefulset.statefulset.replace('cpu: {{ .CPU }}', 'cpu: 1'));

    await applied(scene);

    expect((await stateOf(scene)).state).toBe('ready');
    expect([ofSet() === stuck, ofClaim() === claim]).toEqual([false, true]);
  });

  test('a claim that a finalizer keeps is named with it while its runtime is removed', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const claim = '/api/v1/namespaces/cloud-runtime/persistentvolumeclaims/data-runtime-a-0';
    await scene.kubectl('PATCH', claim, { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } });

    await scene.during(scene.host.release('a', going()));
    await scene.clock.advance(5_000);

    expect(await stateOf(scene)).toEqual({
      state: 'coming',
      why: 'PersistentVolumeClaim data-runtime-a-0 is being deleted; it waits for its finalizer kubernetes.io/pvc-protection.',
    });
  });

  test('hibernates with its claim alone, and wakes with the same one', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    const uid = scene.fake.object('persistentvolumeclaims', 'cloud-runtime', 'data-runtime-a-0')?.metadata.uid;

    await scene.during(scene.host.hibernate?.('a', going()) ?? Promise.resolve());
    await scene.clock.advance(5_000);
    expect(objectsIn(scene)).toEqual(['persistentvolumeclaims/data-runtime-a-0']);
    expect(await stateOf(scene)).toEqual({ state: 'hibernated' });

    await applied(scene);
    expect((await stateOf(scene)).state).toBe('ready');
    expect(scene.fake.object('persistentvolumeclaims', 'cloud-runtime', 'data-runtime-a-0')?.metadata.uid).toBe(uid);
  });

  test('a release leaves nothing of it, and all of the others', async () => {
    const scene = await openRuntimeScene();
    await applied(scene);
    await applied(scene, { ...A, id: 'b' });
    await scene.kubectl('POST', '/api/v1/namespaces/cloud-runtime/services', {
      metadata: { name: 'runtime-a-foreign' },
    });

    await scene.during(scene.host.release('a', going()));
    await scene.clock.advance(5_000);

    expect(await stateOf(scene)).toEqual({ state: 'absent' });
    expect(objectsIn(scene).filter((name) => !name.includes('runtime-b'))).toEqual(['services/runtime-a-foreign']);
    expect((await stateOf(scene, { ...A, id: 'b' })).state).toBe('ready');
  });
});

test('a Deployment whose template names no replicas is scaled up again when others scaled it to nothing', async () => {
  const scene = await openRuntimeScene(TEXTS.deployment);
  await applied(scene);
  const path = '/apis/apps/v1/namespaces/cloud-runtime/deployments/runtime-a';
  await scene.kubectl('PATCH', path, { spec: { replicas: 0 } });
  await scene.clock.advance(5_000);

  expect(await stateOf(scene)).toMatchObject({ state: 'drifted', why: 'Deployment runtime-a was changed by others.' });
  await applied(scene);
  expect((await stateOf(scene)).state).toBe('ready');
});

test('a Deployment with its claim works the same', async () => {
  const scene = await openRuntimeScene(TEXTS.deployment);
  await applied(scene);
  expect((await stateOf(scene)).state).toBe('ready');

  const { grant } = await applied(scene, { ...A, slots: 1 });
  expect(grant.storageBytes).toBe(80 * GIB);
  await scene.during(scene.host.hibernate?.('a', going()) ?? Promise.resolve());
  await scene.clock.advance(5_000);
  expect(objectsIn(scene)).toEqual(['persistentvolumeclaims/runtime-a']);
});

test('why a runtime does not come up is said in the words of the cluster', async () => {
  const scene = await openRuntimeScene();
  const huge = { ...A, slots: 100_000 };
  await applied(scene, huge);

  expect(await stateOf(scene, huge)).toMatchObject({
    state: 'coming',
    why: expect.stringMatching(/^Pod runtime-a-0: it cannot be scheduled: /),
  });
});
