// The server in the cluster: its file, its volume, its addresses, its pod.
import { stringify } from 'yaml';
import { type InstallChoices, SERVER_NAME } from './choices.ts';
import { LABELS, type Manifest } from './manifest.ts';

const GRPC_PORT = 50_051;
const HTTP_PORT = 8_081;
const PEER_PORT = 8_082;
const CONFIG_DIR = '/etc/muster';
const DATA_DIR = '/var/lib/muster';
// The user `node` of the image.
const USER = 1_000;

/** By which Service, Deployment and PodDisruptionBudget find the pods. */
export const SELECTOR = { app: SERVER_NAME } as const;

/** Every name under which pods of the cluster reach the Service. */
export function serviceNames(namespace: string): string[] {
  const inNamespace = `${SERVER_NAME}.${namespace}`;
  return [SERVER_NAME, inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`];
}

/** The server's file. */
export function serverFile({
  namespace,
  served,
  postgresSecret,
  nodes,
}: InstallChoices): Readonly<Record<string, unknown>> {
  const names = serviceNames(namespace);
  return {
    server: { grpc_address: `0.0.0.0:${GRPC_PORT}`, http_address: `0.0.0.0:${HTTP_PORT}` },
    data_dir: DATA_DIR,
    // Agents of Velda, and files with an address without https://, join without TLS.
    tls: { plaintext_grpc: true },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the server's file.
    ...(postgresSecret !== undefined && { store: '${MUSTER_STORE}' }),
    default_broker_info: { address: `https://${names.at(-1)}:${GRPC_PORT}` },
    access: { allowed_hosts: names },
    provisioners:
      served.length === 0
        ? [{ kubernetes: { in_cluster: {} } }]
        : served.map((at) => ({ kubernetes: { namespace: at, in_cluster: {} } })),
    ...(nodes && { nodes: { accounts: [] } }),
  };
}

function configMap(choices: InstallChoices): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: SERVER_NAME, namespace: choices.namespace, labels: LABELS },
    data: { 'config.yaml': stringify(serverFile(choices)) },
  };
}

function volumeClaim({ namespace, storage }: InstallChoices): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: SERVER_NAME, namespace, labels: LABELS },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  };
}

function service({ namespace }: InstallChoices): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVER_NAME, namespace, labels: LABELS },
    spec: {
      selector: SELECTOR,
      ports: [
        { name: 'grpc', port: GRPC_PORT, targetPort: 'grpc' },
        { name: 'https', port: HTTP_PORT, targetPort: 'https' },
      ],
    },
  };
}

// The kubelet does not check certificates.
const probe = (path: string, more: object): object => ({
  httpGet: { path, port: 'https', scheme: 'HTTPS' },
  timeoutSeconds: 5,
  ...more,
});

function container({ image, postgresSecret }: InstallChoices): object {
  const store = postgresSecret && {
    name: 'MUSTER_STORE',
    valueFrom: { secretKeyRef: { name: postgresSecret, key: 'url' } },
  };
  return {
    name: 'server',
    image,
    args: ['server', '--config', `${CONFIG_DIR}/config.yaml`],
    env: [{ name: 'MUSTER_DATA_DIR', value: DATA_DIR }, ...(store ? [store] : [])],
    ports: [
      { name: 'grpc', containerPort: GRPC_PORT },
      { name: 'https', containerPort: HTTP_PORT },
      { name: 'peer', containerPort: PEER_PORT },
    ],
    startupProbe: probe('/healthz', { periodSeconds: 2, failureThreshold: 60 }),
    livenessProbe: probe('/healthz', { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: probe('/readyz', { periodSeconds: 5 }),
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIR, readOnly: true },
      { name: 'data', mountPath: DATA_DIR },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

function deployment(choices: InstallChoices): Manifest {
  const { namespace, postgresSecret, replicas } = choices;
  const data = postgresSecret ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: SERVER_NAME } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: SERVER_NAME, namespace, labels: LABELS },
    spec: {
      replicas,
      // SQLite admits one server: the old pod must be gone before the new one opens the volume.
      strategy: { type: postgresSecret ? 'RollingUpdate' : 'Recreate' },
      selector: { matchLabels: SELECTOR },
      template: {
        metadata: { labels: { ...LABELS, ...SELECTOR } },
        spec: {
          serviceAccountName: SERVER_NAME,
          terminationGracePeriodSeconds: 30,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container(choices)],
          volumes: [
            { name: 'config', configMap: { name: SERVER_NAME } },
            { name: 'data', ...data },
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** Everything that runs the server, but its account and rights. */
export function serverManifests(choices: InstallChoices): Manifest[] {
  const claim = choices.postgresSecret === undefined ? [volumeClaim(choices)] : [];
  return [configMap(choices), ...claim, service(choices), deployment(choices)];
}
