// The chart under the real helm: the same objects as `npm test` renders, and taken by a real API server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../src/providers/kubernetes/install/manifest.ts';
import {
  CHART_FOLDER,
  CHART_KUBE_VERSION,
  CHART_NAMESPACE,
  renderChart,
} from '../../src/providers/kubernetes/install/testing.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { openControlPlane } from './parts/control-plane.ts';
import { type KubernetesPrograms, kubernetesPrograms } from './parts/kubernetes.ts';
import { operatorCrds } from './parts/others.ts';
import { needed, type Part } from './parts/part.ts';
import { type Ran, run } from './parts/run.ts';

type Values = Readonly<Record<string, unknown>>;

const EVERYTHING: Values = {
  ...Object.fromEntries(
    ['networkPolicy', 'podMonitor', 'prometheusRule', 'dashboard'].map((key) => [`${key}.enabled`, true]),
  ),
  replicas: 3,
  'postgres.secret': 'db',
  'image.pullPolicy': 'Always',
  'tls.secret': 'certificate',
  'service.annotations': { 'example.com/a': 'b' },
  config: { log: { level: 'debug' }, tls: { plaintext_grpc: false } },
  env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'cloud', key: 'token' } } }],
  tolerations: [{ key: 'a', operator: 'Exists' }],
  nodeSelector: { disk: 'ssd' },
  'image.digest': `sha256:${'0123456789abcdef'.repeat(4)}`,
  'serviceAccount.name': 'robot',
  'podSecurityContext.runAsUser': null,
  'securityContext.readOnlyRootFilesystem': false,
  extraVolumes: [{ name: 'ca', configMap: { name: 'corporate-ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/corporate', readOnly: true }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { own: 'yes' } },
    },
  ],
};

let programs: Part<KubernetesPrograms>;
let world: World;

beforeAll(async () => {
  programs = await kubernetesPrograms();
  world = openWorld();
});

afterAll(() => world.close());

function helm({ program }: KubernetesPrograms, ...words: readonly string[]): Promise<Ran> {
  return run(program('helm'), words, { env: world.env });
}

function template(found: KubernetesPrograms, values: Values, kubeVersion = CHART_KUBE_VERSION): Promise<Ran> {
  const sets = Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);
  const place = ['--namespace', CHART_NAMESPACE, '--kube-version', kubeVersion];
  return helm(found, 'template', 'muster', CHART_FOLDER, ...place, ...sets);
}

const byName = (objects: readonly Manifest[]): Record<string, Manifest> =>
  Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`, object]),
  );

test.for<{ title: string; values: Values; kubernetes?: string }>([
  { title: 'as it stands', values: {} },
  { title: 'for two namespaces', values: { serve: ['ml', 'web'], name: 'apiserver' } },
  { title: 'with everything', values: EVERYTHING },
  { title: 'on Kubernetes 1.19', values: EVERYTHING, kubernetes: '1.19.0' },
  {
    title: 'without rights and hook',
    values: { 'rbac.create': false, 'uninstall.release': false, 'storage.keep': false },
  },
])('helm renders the chart as npm test does, $title', async ({ values, kubernetes }, context) => {
  const { out, err } = await template(needed(context, programs), values, kubernetes);
  const rendered = parseAllDocuments(out).map((document) => document.toJS() as Manifest);

  expect(err).toBe('');
  expect(byName(rendered)).toEqual(byName(renderChart(values, kubernetes)));
});

test.for<[string, Values, string]>([
  ['an unknown value', { replica: 2 }, "'replica' not allowed"],
  ['several replicas on SQLite', { replicas: 2 }, 'need PostgreSQL'],
  ['a namespace that cannot be', { serve: ['Ml'] }, 'pattern'],
  ['a digest that is none', { 'image.digest': 'latest' }, 'pattern'],
])('helm refuses %s', async ([, values, said], context) => {
  const { code, err } = await template(needed(context, programs), values);

  expect(code).not.toBe(0);
  expect(err).toContain(said);
});

test('the chart passes the linter of helm', async (context) => {
  const { out } = await helm(needed(context, programs), 'lint', '--strict', CHART_FOLDER);

  expect(out).toContain('0 chart(s) failed');
});

test('every object of the chart is taken by the API server and the definitions of the Prometheus operator, field by field', async (context) => {
  const found = needed(context, programs);
  const crds = needed(context, await operatorCrds());
  const cluster = await openControlPlane(openWorld(context), found, { parts: [] });
  // Larger than what the client may keep of an object in its annotation.
  const definitions = world.write('definitions.yaml', crds.join('\n---\n'));
  await cluster.kubectl('apply', '--server-side', '-f', definitions);
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all');
  await cluster.kubectl('create', 'namespace', CHART_NAMESPACE);
  // No controller makes it here, and every pod needs it.
  await cluster.kubectl('create', 'serviceaccount', 'default', '--namespace', CHART_NAMESPACE);
  const { out } = await template(found, EVERYTHING);
  const file = world.write('everything.yaml', out);
  const mistyped = world.write('mistyped.yaml', out.replace('podMetricsEndpoints:', 'podMetricsEndpoint:'));

  const words = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f'];
  const taken = await cluster.kubectl(...words, file);
  const refused = await cluster.tryKubectl(...words, mistyped);

  expect(taken).toContain('podmonitor.monitoring.coreos.com/velda-apiserver serverside-applied');
  expect(taken).toContain('prometheusrule.monitoring.coreos.com/velda-apiserver serverside-applied');
  expect(taken.trim().split('\n')).toHaveLength(renderChart(EVERYTHING).length);
  expect(refused.err).toContain('podMetricsEndpoint');
});
