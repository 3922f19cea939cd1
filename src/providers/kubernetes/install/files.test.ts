import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import provider from '../index.ts';
import { crdFile, installFile, rbacFile, ruledCrdFile, serverFileText } from './files.ts';
import type { Manifest } from './manifest.ts';
import { chartFile } from './testing.ts';

const LARGEST_FILE_BYTES = 200_000;

const objectsIn = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const namesIn = (text: string): string[] =>
  objectsIn(text).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);

const objectOf = (text: string, kind: string): Manifest =>
  objectsIn(text).find((object) => object.kind === kind) ?? expect.fail(`no ${kind}`);

interface Spec {
  readonly replicas: number;
  readonly strategy: object;
  readonly template: {
    readonly spec: { readonly volumes: object[]; readonly containers: { readonly env: object[] }[] };
  };
}
const deploymentIn = (text: string): Spec => objectOf(text, 'Deployment').spec as Spec;

describe('the file of the CRD', () => {
  it('is one object, small enough for a client-side apply, and uses no CEL', () => {
    const text = crdFile();

    expect(namesIn(text)).toEqual(['CustomResourceDefinition /agentpools.velda.io']);
    expect(Buffer.byteLength(text)).toBeLessThan(LARGEST_FILE_BYTES);
    expect(text).not.toContain('x-kubernetes-validations');
  });

  it('has rules where it is for Kubernetes 1.25 and newer: alone, in all manifests and in the chart', () => {
    for (const text of [ruledCrdFile(), installFile(), chartFile('crds/agentpool-crd.yaml')]) {
      expect(text).toContain('self.minReplicas <= self.maxReplicas');
    }
    expect(Buffer.byteLength(ruledCrdFile())).toBeLessThan(LARGEST_FILE_BYTES);
  });
});

describe('the file of the rights', () => {
  it('grants them everywhere, or in the namespaces that are served', () => {
    expect(namesIn(rbacFile())).toEqual([
      'ServiceAccount velda/velda-apiserver',
      'ClusterRole /velda:velda-apiserver',
      'ClusterRoleBinding /velda:velda-apiserver',
    ]);
    expect(namesIn(rbacFile({ namespace: 'muster', served: ['ml', 'web'] }))).toEqual([
      'ServiceAccount muster/velda-apiserver',
      'Role ml/velda-apiserver',
      'RoleBinding ml/velda-apiserver',
      'Role web/velda-apiserver',
      'RoleBinding web/velda-apiserver',
    ]);
    expect(objectOf(rbacFile({ namespace: 'muster', served: ['ml'] }), 'RoleBinding')).toMatchObject({
      roleRef: { kind: 'Role', name: 'velda-apiserver' },
      subjects: [{ kind: 'ServiceAccount', name: 'velda-apiserver', namespace: 'muster' }],
    });
  });
});

describe('the manifests of the server', () => {
  it('come in the order in which they must be applied', () => {
    expect(namesIn(installFile())).toEqual([
      'Namespace /velda',
      'CustomResourceDefinition /agentpools.velda.io',
      'ServiceAccount velda/velda-apiserver',
      'ClusterRole /velda:velda-apiserver',
      'ClusterRoleBinding /velda:velda-apiserver',
      'ConfigMap velda/velda-apiserver',
      'PersistentVolumeClaim velda/velda-apiserver',
      'Service velda/velda-apiserver',
      'Deployment velda/velda-apiserver',
    ]);
  });

  it('run one server on a volume, which stops before the next one starts', () => {
    const spec = deploymentIn(serverFileText());

    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(spec.template.spec.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'velda-apiserver' },
    });
  });

  it('run several with PostgreSQL, whose address is in a Secret, and need no volume then', () => {
    const text = installFile({ replicas: 3, postgresSecret: 'db' });

    expect(deploymentIn(text)).toMatchObject({ replicas: 3, strategy: { type: 'RollingUpdate' } });
    expect(deploymentIn(text).template.spec.containers[0]?.env).toContainEqual({
      name: 'MUSTER_STORE',
      valueFrom: { secretKeyRef: { name: 'db', key: 'url' } },
    });
    expect(namesIn(text).join()).not.toContain('PersistentVolumeClaim');
  });

  it.each([
    ['on SQLite', {}],
    ['on PostgreSQL', { replicas: 2, postgresSecret: 'db' }],
    ['for two namespaces', { served: ['ml', 'web'] }],
  ])('hold a configuration that the server takes, %s', (_title, choices) => {
    const { data } = objectOf(installFile(choices), 'ConfigMap') as unknown as { data: Record<string, string> };
    const environment = readEnvironment({ MUSTER_STORE: 'postgres://muster@db/muster' });
    const text = data['config.yaml'] ?? '';

    const read = readServerFile(text, { kinds: knownKinds([provider]), environment });

    expect(read.problems).toBeUndefined();
    expect(read.warnings).toEqual([]);
    expect(parse(text).server).toEqual({ grpc_address: '0.0.0.0:50051', http_address: '0.0.0.0:8081' });
  });

  it.each([
    ['several replicas without PostgreSQL', { replicas: 2 }, 'need PostgreSQL'],
    ['a namespace that cannot be', { namespace: 'Velda' }, '"Velda" is not a namespace'],
    ['a served namespace that cannot be', { served: ['a/b'] }, '"a/b" is not a namespace'],
  ])('are refused for %s', (_title, choices, named) => {
    expect(() => installFile(choices)).toThrow(named);
  });
});
