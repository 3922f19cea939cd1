import { describe, expect, it } from 'vitest';
import type { Manifest } from './manifest.ts';
import { chartFile, renderChart } from './testing.ts';

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext: object;
  readonly topologySpreadConstraints?: readonly object[];
  readonly containers: readonly [
    {
      image: string;
      command?: string[];
      args: string[];
      env?: object[];
      securityContext: object;
      volumeMounts: object[];
    },
  ];
  readonly volumes: readonly object[];
}

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

function podsOf(objects: readonly Manifest[]): Record<'server' | 'release' | 'test', PodSpec> {
  const of = (kind: string): Manifest => {
    const found = objects.find((object) => object.kind === kind);
    if (!found) throw new Error(`The chart has no ${kind}.`);
    return found;
  };
  const templated = (kind: string): PodSpec => (of(kind).spec as { template: { spec: PodSpec } }).template.spec;
  return { server: templated('Deployment'), release: templated('Job'), test: of('Pod').spec as unknown as PodSpec };
}

const imagesOf = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.values(podsOf(renderChart(values))).map(({ containers }) => containers[0].image);

describe('the values of the chart', () => {
  it.each([
    ['a digest', { 'image.digest': DIGEST }, `muster/server@${DIGEST}`],
    ['a tag and a digest', { 'image.tag': '1.2', 'image.digest': DIGEST }, `muster/server:1.2@${DIGEST}`],
    ['a tag', { 'image.tag': '1.2' }, 'muster/server:1.2'],
  ])('name the image of every pod by %s', (_, values, image) => {
    expect(new Set(imagesOf(values))).toEqual(new Set([image]));
  });

  it('refuse a digest that is none', () => {
    expect(() => renderChart({ 'image.digest': 'latest' })).toThrow('pattern');
  });

  it('give the server further volumes beside its own', () => {
    const volume = { name: 'ca', configMap: { name: 'corporate-ca' } };
    const mount = { name: 'ca', mountPath: '/etc/corporate', readOnly: true };
    const { server } = podsOf(renderChart({ extraVolumes: [volume], extraVolumeMounts: [mount] }));

    expect(server.volumes).toContainEqual(volume);
    expect(server.containers[0].volumeMounts).toContainEqual(mount);
    expect(server.volumes).toHaveLength(4);
  });

  it('spread the replicas, by the label of the server where a constraint names none', () => {
    const zones = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' };
    const nodes = { ...zones, topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { own: 'yes' } } };
    const { server } = podsOf(renderChart({ topologySpreadConstraints: [zones, nodes] }));

    expect(server.topologySpreadConstraints).toEqual([
      { ...zones, labelSelector: { matchLabels: { app: 'velda-apiserver' } } },
      nodes,
    ]);
  });

  it('change the security context of all pods, and leave out what is null, as OpenShift needs it', () => {
    const pods = podsOf(
      renderChart({
        'podSecurityContext.runAsUser': null,
        'podSecurityContext.runAsGroup': null,
        'podSecurityContext.fsGroup': null,
        'securityContext.runAsNonRoot': true,
      }),
    );

    for (const { securityContext, containers } of Object.values(pods)) {
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(containers[0].securityContext).toEqual({
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it.each([
    ['all namespaces', []],
    ['one namespace', ['ml']],
  ])('name the service account of the server, which has the rights to %s', (_, serve) => {
    const objects = renderChart({ 'serviceAccount.name': 'robot', serve });
    const bindings = objects.filter(({ kind, metadata }) => /Binding$/.test(kind) && !metadata.annotations);

    expect(podsOf(objects).server.serviceAccountName).toBe('robot');
    expect(bindings.map(({ subjects }) => subjects)).toEqual([
      [{ kind: 'ServiceAccount', name: 'robot', namespace: 'velda' }],
    ]);
    const made = (values: object): string[] =>
      renderChart({ 'serviceAccount.name': 'robot', 'uninstall.release': false, ...values })
        .filter(({ kind }) => kind === 'ServiceAccount')
        .map(({ metadata }) => metadata.name);
    expect([made({}), made({ 'serviceAccount.create': false })]).toEqual([['robot'], []]);
  });
});

describe('the rights of the chart', () => {
  const resourcesOf = (values: Readonly<Record<string, unknown>>): string[] =>
    renderChart({ 'uninstall.release': false, ...values })
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .flatMap(({ rules }) => (rules as { resources: string[] }[]).flatMap(({ resources }) => resources));

  it.each([
    ['all namespaces', []],
    ['one namespace', ['ml']],
  ])('hold Deployments, Services and Secrets of %s only where computers are asked for', (_, serve) => {
    const more = ['deployments', 'deployments/finalizers', 'services', 'secrets'];
    expect(resourcesOf({ serve }).filter((one) => more.includes(one))).toEqual([]);
    expect(resourcesOf({ serve, computers: true })).toEqual(expect.arrayContaining(more));
  });
});

describe('helm test', () => {
  it('runs a pod without rights that reaches the server by its Service', () => {
    const objects = renderChart({ name: 'apiserver' });
    const pod = objects.find(({ kind }) => kind === 'Pod');
    const { test } = podsOf(objects);

    expect(pod?.metadata).toMatchObject({
      name: 'apiserver-test',
      annotations: { 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' },
      labels: { app: 'apiserver-test' },
    });
    expect(test.automountServiceAccountToken).toBe(false);
    expect(test.containers[0]).toMatchObject({
      command: ['node'],
      args: ['--input-type=module', '--eval', chartFile('files/check.mjs')],
      env: [{ name: 'MUSTER_HOST', value: 'apiserver.velda.svc' }],
    });
  });
});
