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

describe('a template is refused with its file and line before anything is applied', () => {
  const refusal = async (template: string, text: string, request = A) => {
    const scene = await openRuntimeScene();
    scene.write(template, text);
    const thrown = await scene.during(scene.host.apply(request, going())).catch((fault) => fault as Error);
    expect(objectsIn(scene)).toEqual([]);
    return (thrown as Error).message.replaceAll(scene.pathOf(template), template);
  };

  test.each([
    ['that does not parse', 'kind: {{ .Names.Service', /service\.yaml:1/],
    ['that calls what is not there', 'a: 1\nkind: {{ nosuch }}', /service\.yaml:2.*nosuch/s],
    ['that uses a value that is not there', 'a: 1\nb: {{ .Slotz }}', /service\.yaml:2:6: .*can't evaluate field Slotz/],
    ['that makes a text of one', 'a: 1\nb: {{ .Slotz | quote }}', /service\.yaml:2:6: .*can't evaluate field Slotz/],
    ['that asks for a name of no object', 'a: {{ if .Names.Pod }}b{{ end }}', /can't evaluate field Pod/],
    [
      'that uses an absent annotation',
      'a: 1\nb: {{ .Annotations.plan }}',
      /line 2 .*annotation that the runtime lacks/,
    ],
    ['that gives bad YAML', 'kind: Service\n  a: [', /line \d .*no YAML/],
    ['of another kind', 'apiVersion: v1\nkind: Pod\n', /line 2 .*v1 Service is wanted, not v1 Pod/],
    [
      'for another namespace',
      'apiVersion: v1\nkind: Service\nmetadata:\n  namespace: kube-system\n',
      /line 4 .*namespace must be cloud-runtime/,
    ],
    ['with another name', 'apiVersion: v1\nkind: Service\nmetadata: {name: mine}\n', /line 3 .*name must be runtime-a/],
    [
      'with two objects',
      'apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\n',
      /a second object follows/,
    ],
    ['with none', '{{/* nothing */}}', /one object is wanted/],
    ['with a list', '- a\n b: c:', /line \d .*no YAML/],
    ['whose metadata is a number', 'apiVersion: v1\nkind: Service\nmetadata: 5\n', /line 3 .*metadata must be a map/],
    [
      'whose labels are a word',
      'apiVersion: v1\nkind: Service\nmetadata:\n  labels: foo\n',
      /line 4 .*metadata.labels must be a map/,
    ],
    [
      'of more values than anyone needs',
      'apiVersion: v1\nkind: Service\nspec:\n{{ range until 1500 }}  k{{ . }}: 1\n{{ end }}',
      /line 1 .*it is too large: 3000 values/,
    ],
    ['of brackets without end', '{{ repeat 2900 "[" }}', /no YAML/],
    ['with a key twice', 'apiVersion: v1\nkind: Service\nkind: Service\n', /line 3 .*no YAML: kind stands there twice/],
    [
      'with references that multiply',
      `apiVersion: v1\nkind: Service\na: &a [1, 1]\n${'abcdefgh'.replace(/./g, (c, at) => (at === 0 ? '' : `${c}: &${c} [${`*${'abcdefgh'[at - 1]}, `.repeat(9)}]\n`))}`,
      /no YAML: Excessive alias count/,
    ],
  ])('one %s', async (_what, text, message) => {
    expect(await refusal('service', text)).toMatch(message);
  });

  test('an id that is too long for objects of Kubernetes', async () => {
    expect(await refusal('service', TEXTS.statefulset.service, { ...A, id: 'x'.repeat(45) })).toMatch(/too long/);
  });
});

test('templates are read as the Kubernetes tools read YAML, and may use all Rill values', async () => {
  const scene = await openRuntimeScene();
  const values =
    'a: 0644\n    b: on\n    c: 0o17\n    d: 2024-01-01\n    e: 12:30\n    f: {{ get (fromJson (toJson .Names)) "PVC" }}';
  scene.write('service', TEXTS.statefulset.service.replace('spec:', `metadata:\n  annotations:\n    ${values}\nspec:`));

  const { manifests } = await scene.host.render(A);

  const { text } = manifests.find(({ template }) => template === 'service') ?? { text: '' };
  expect(text).toContain('a: 420\n    b: true\n    c: 15\n    d: 2024-01-01\n    e: 12:30\n    f: runtime-a\n');
});

test('a StatefulSet whose claims are no list is refused', async () => {
  const scene = await openRuntimeScene();
  scene.write('statefulset', 'apiVersion: apps/v1\nkind: StatefulSet\nspec:\n  volumeClaimTemplates: 3\n');

  await expect(scene.host.render(A)).rejects.toThrow(
    'line 4 of what it renders: spec.volumeClaimTemplates must be a list',
  );
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
