// What the tests of runtimes share: the seed's templates in a folder of their own, and a host on the simulated cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Context } from '#core/provider.ts';
import type { RuntimeHost } from '#core/runtime-host.ts';
import { type KubeScene, openKubeScene } from '../testing.ts';
import { RuntimeConfig } from './config.ts';
import { openRuntimeHost } from './host.ts';

const SERVICE = `apiVersion: v1
kind: Service
spec:
  ports: [{ name: http, port: 8080 }, { name: grpc, port: 9090 }]
  selector:
    app.kubernetes.io/name: {{ .Names.Service }}
`;

const ingress = (port: number, path: string): string => `apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  rules:
  - host: {{ .Host }}
    http:
      paths:
      - path: ${path}
        pathType: Prefix
        backend: { service: { name: {{ .Names.Service }}, port: { number: ${port} } } }
`;

const POD = `
    metadata:
      labels: { app.kubernetes.io/name: {{ .Names.Service }}, org: "{{ .Annotations.org }}" }
    spec:
      containers:
      - name: runtime
        image: "{{ .Image }}:{{ .ImageTag }}"
        resources: { limits: { cpu: {{ .CPU }}, memory: {{ .MemoryGB }}Gi } }
        volumeMounts: [{ name: data, mountPath: {{ .DataDir }} }]`;

const SELECTOR = '{ matchLabels: { app.kubernetes.io/name: {{ .Names.Service }} } }';

const STATEFULSET = `apiVersion: apps/v1
kind: StatefulSet
spec:
  replicas: 1
  serviceName: cloud-runtime
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete, whenScaled: Retain }
  selector: ${SELECTOR}
  volumeClaimTemplates:
  - metadata: { name: data }
    spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: {{ .StorageBytes }} } } }
  template:${POD}
`;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
spec:
  strategy: { type: Recreate }
  selector: ${SELECTOR}
  template:${POD}
      volumes: [{ name: data, persistentVolumeClaim: { claimName: {{ .Names.PVC }} } }]
`;

const PVC = `apiVersion: v1
kind: PersistentVolumeClaim
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: {{ .StorageBytes }} } } }
`;

const COMMON = {
  http_ingress: ingress(8080, '/v1'),
  grpc_ingress: ingress(9090, '/'),
  service: SERVICE,
};

export const TEXTS = {
  statefulset: { ...COMMON, statefulset: STATEFULSET },
  deployment: { ...COMMON, deployment: DEPLOYMENT, pvc: PVC },
};

export interface RuntimeScene extends KubeScene {
  readonly host: RuntimeHost;
  readonly config: RuntimeConfig;
  /** Another server process; `more` in place of what its context has. */
  open(more?: Partial<Context>): Promise<RuntimeHost>;
  /** Writes one of the templates anew. */
  write(template: string, text: string): void;
  pathOf(template: string): string;
}

const camel = (text: string): string => text.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

export async function openRuntimeScene(
  texts: Readonly<Record<string, string>> = TEXTS.statefulset,
  more: object = {},
): Promise<RuntimeScene> {
  const scene = openKubeScene();
  await scene.kubectl('POST', '/api/v1/namespaces', { metadata: { name: 'cloud-runtime' } });
  const folder = mkdtempSync(join(tmpdir(), 'muster-templates-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pathOf = (template: string): string => join(folder, `${template}.yaml`);
  const write = (template: string, text: string): void => writeFileSync(pathOf(template), text);
  for (const [template, text] of Object.entries(texts)) write(template, text);
  const templatePaths = Object.fromEntries(Object.keys(texts).map((name) => [camel(name), pathOf(name)]));
  const config = RuntimeConfig.parse({
    host: 'http://node-*.localhost',
    image: 'rilldata/rill',
    namespace: 'cloud-runtime',
    dataDir: '/mnt/data',
    timeoutSeconds: 30,
    templatePaths,
    ...more,
  });
  const open: RuntimeScene['open'] = (parts) => openRuntimeHost(config, { ...scene.contextFor(), ...parts });
  return { ...scene, open, config, host: await open(), write, pathOf };
}
