import { describe, expect, test } from 'vitest';
import type { RuntimeRequest } from '#core/runtime-host.ts';
import { going } from '#core/testing/going.ts';
import { openRuntimeScene, type RuntimeScene, TEXTS } from './testing.ts';

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
