import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import provider from '../index.ts';
import type { GivenChoices } from './choices.ts';
import { installFile } from './files.ts';
import type { Manifest } from './manifest.ts';
import { renderChart } from './testing.ts';

// Of the chart alone: who manages an object, and what an uninstallation leaves.
const ONLY_IN_CHART = ['app.kubernetes.io/managed-by', 'helm.sh/chart', 'helm.sh/resource-policy'];
const NOT_IN_TEMPLATES = ['Namespace', 'CustomResourceDefinition'];

const hookOf = ({ metadata }: Manifest): string | undefined => metadata.annotations?.['helm.sh/hook'];
const isHook = (object: Manifest): boolean => hookOf(object) !== undefined;
const dataOf = (object: Manifest | undefined): Readonly<Record<string, string>> =>
  (object?.data ?? {}) as Readonly<Record<string, string>>;
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

function without(texts: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  const left = Object.entries(texts ?? {}).filter(([key]) => !ONLY_IN_CHART.includes(key));
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

/** By name, so that order counts for nothing; the server's file as what it says, not how it is written. */
function comparable(objects: readonly Manifest[]): Record<string, unknown> {
  const entries = objects.map((object) => {
    const { labels, annotations, ...rest } = object.metadata;
    const metadata = { ...rest, labels: without(labels), annotations: without(annotations) };
    const data = object.data as Record<string, string> | undefined;
    return [nameOf(object), { ...object, metadata, ...(data && { data: parse(data['config.yaml'] ?? '') }) }];
  });
  return Object.fromEntries(entries);
}

const plain = (choices: GivenChoices): Manifest[] =>
  parseAllDocuments(installFile(choices))
    .map((document) => document.toJS() as Manifest)
    .filter(({ kind }) => !NOT_IN_TEMPLATES.includes(kind));

describe('the Helm chart', () => {
  it.each<[string, Readonly<Record<string, unknown>>, GivenChoices]>([
    ['as it stands', {}, {}],
    [
      'with PostgreSQL',
      { replicas: 3, 'postgres.secret': 'db', 'podDisruptionBudget.enabled': false },
      { replicas: 3, postgresSecret: 'db' },
    ],
    ['for two namespaces', { serve: ['ml', 'web'] }, { served: ['ml', 'web'] }],
    ['with another volume', { 'storage.size': '1Gi' }, { storage: '1Gi' }],
  ])('gives the same objects as the plain manifests, %s', (_title, values, choices) => {
    const rendered = renderChart(values).filter((object) => !isHook(object));

    expect(comparable(rendered)).toEqual(comparable(plain(choices)));
  });

  it('keeps the volume at an uninstallation, and never deletes the CRD', () => {
    const objects = renderChart();

    const claim = objects.find(({ kind }) => kind === 'PersistentVolumeClaim');
    expect(claim?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(objects.map(({ kind }) => kind)).not.toContain('CustomResourceDefinition');
  });

  it('removes the finalizers before an uninstallation, with rights of its own for that time', () => {
    const hooks = renderChart({ serve: ['ml'], name: 'apiserver' }).filter((object) => hookOf(object) === 'pre-delete');

    expect(hooks.map(nameOf).toSorted()).toEqual([
      'Job velda/apiserver-release',
      'Role ml/apiserver-release',
      'Role velda/apiserver-release-server',
      'RoleBinding ml/apiserver-release',
      'RoleBinding velda/apiserver-release-server',
      'ServiceAccount velda/apiserver-release',
    ]);
    const job = hooks.find(({ kind }) => kind === 'Job') as unknown as {
      spec: { template: { spec: { containers: [{ args: string[] }] } } };
    };
    expect(job.spec.template.spec.containers[0].args).toEqual([
      'kube',
      'release',
      '--stop-server',
      'velda/apiserver',
      '--namespace',
      'ml',
    ]);
    const stopping = hooks.find((object) => nameOf(object) === 'Role velda/apiserver-release-server');
    expect(stopping?.rules).toContainEqual({
      apiGroups: ['apps'],
      resources: ['deployments'],
      resourceNames: ['apiserver'],
      verbs: ['patch'],
    });
  });

  it('has a budget, a policy, a monitor, alerts and a dashboard where they are asked for', () => {
    const enabled = ['networkPolicy', 'podMonitor', 'prometheusRule', 'dashboard'].map((key) => [
      `${key}.enabled`,
      true,
    ]);
    const objects = renderChart({ ...Object.fromEntries(enabled), replicas: 2, 'postgres.secret': 'db' });

    const kinds = objects.filter((object) => !isHook(object)).map(({ kind }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(['PodDisruptionBudget', 'NetworkPolicy', 'PodMonitor', 'PrometheusRule']),
    );
    const dashboard = objects.find(({ metadata }) => metadata.name === 'velda-apiserver-dashboard');
    const { title } = JSON.parse(dataOf(dashboard)['muster.json'] ?? '') as { title: string };
    expect(title).toBe('Muster');
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule') as unknown as { spec: { groups: object[] } };
    expect(rule.spec.groups).toHaveLength(1);
  });

  it.each([
    ['1.19.0', 'policy/v1beta1'],
    ['1.21.0', 'policy/v1'],
  ])('has a budget of the version that Kubernetes %s serves', (kubernetes, version) => {
    const objects = renderChart({ replicas: 2, 'postgres.secret': 'db' }, kubernetes);

    expect(objects.find(({ kind }) => kind === 'PodDisruptionBudget')).toMatchObject({ apiVersion: version });
  });

  it('lays the configuration of its values over the server file, which the server takes', () => {
    const objects = renderChart({ config: { log: { level: 'debug' } }, 'tls.plaintextAgents': false });
    const map = objects.find(({ kind }) => kind === 'ConfigMap');
    const text = dataOf(map)['config.yaml'] ?? '';

    const { value, problems } = readServerFile(text, {
      kinds: knownKinds([provider]),
      environment: readEnvironment({}),
    });

    expect(problems).toBeUndefined();
    expect(value).toMatchObject({ log: { level: 'debug' }, tls: { plaintextGrpc: false } });
  });

  it.each([
    ['an unknown value', { replica: 2 }, 'Unrecognized key: "replica"'],
    ['several replicas on SQLite', { replicas: 2 }, 'need PostgreSQL'],
    ['a namespace that cannot be', { serve: ['Ml'] }, 'pattern'],
  ])('refuses %s', (_title, values, said) => {
    expect(() => renderChart(values)).toThrow(said);
  });
});
