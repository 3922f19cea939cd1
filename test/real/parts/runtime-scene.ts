// Runtimes on a real control plane: the user's templates, volumes that can grow, and what answers for the played pods.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from '#core/testing/until.ts';
import { rulesOf } from '#kube/rights.ts';
import type { Runtime } from '../../../src/api/wire/runtime.ts';
import { RUNTIME_RIGHTS } from '../../../src/providers/kubernetes/runtimes/rights.ts';
import { type Api, apiOf } from '../../system/harness/api.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import type { World } from '../../system/harness/world.ts';
import type { Audited } from './audit.ts';
import { type ControlPlane, openControlPlane } from './control-plane.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { playedNode } from './kwok.ts';
import { ACCOUNT_USER, grantRights } from './rights.ts';

export const NAMESPACE = 'cloud-runtime';
const TEMPLATES = join(import.meta.dirname, '..', '..', '..', 'deploy', 'kubernetes', 'runtimes');
const VOLUMES = 220;

/** The set with its comments, as people write it in the environment. */
const setFor = (port: number, kubeconfig: string): string => `{
  "static-example":
    {
      "type": "static",
      "spec":
        {
          "runtimes":
            [
              {
                "host": "http://localhost:9091",          // Runtime host
                "slots": 50,                              // Amount of slots in the pre-provisioned runtime
                "data_dir": "/mnt/data",                  // Directory to use for data storage like DB files etc.
                "audience_url": "http://localhost:8081"   // Audience URL (JWT)
              }
            ]
        }
    },

  "kubernetes-example":
    {
      "type": "kubernetes",
      "spec":
        {
          "timeout_seconds": 300,                             // Maximum time to wait for the runtime to become ready
          "data_dir": "/mnt/data",                            // Directory to use for data storage like DB files etc.
          "host": "http://node-*.localhost:${port}",          // The wildcard '*' will be replaced with the deployment's 'provision_id'
          "namespace": "${NAMESPACE}",                        // Namespace to use in the K8s cluster
          "image": "rilldata/rill",                           // Rill Docker image
          "kubeconfig_path": "${kubeconfig}",                 // K8s config file to authenticate against the cluster
          "template_paths":
            {
              "http_ingress": "templates/http_ingress.yaml",  // Ingress resource template for HTTP
              "grpc_ingress": "templates/grpc_ingress.yaml",  // Ingress resource template for GRCP
              "service": "templates/service.yaml",            // Service resource template
              "statefulset": "templates/statefulset.yaml"     // Statefulset resource template
            }
        }
    },

  "later-example":
    {
      "type": "kubernetes",
      "spec":
        {
          "timeout_seconds": 300,
          "host": "http://node-*.localhost:${port}",
          "namespace": "${NAMESPACE}",
          "image": "rilldata/rill",
          "kubeconfig_path": "${kubeconfig}",
          "template_paths":
            {
              "http_ingress": "templates/http_ingress.yaml",
              "grpc_ingress": "templates/grpc_ingress.yaml",
              "service": "templates/service_of_deployment.yaml",
              "deployment": "templates/deployment.yaml",
              "pvc": "templates/pvc.yaml"
            }
        }
    },
${['short', 'refused'].map((name) => shortLived(name, port, kubeconfig)).join(',\n')}
}`;

/** A provisioner whose runtimes must be ready soon, with a StatefulSet of its own. */
const shortLived = (name: string, port: number, kubeconfig: string): string =>
  `"${name}": ${JSON.stringify({
    type: 'kubernetes',
    spec: {
      timeout_seconds: 8,
      data_dir: '/mnt/data',
      host: `http://node-*.localhost:${port}`,
      namespace: NAMESPACE,
      image: 'rilldata/rill',
      kubeconfig_path: kubeconfig,
      template_paths: {
        http_ingress: 'templates/http_ingress.yaml',
        grpc_ingress: 'templates/grpc_ingress.yaml',
        service: 'templates/service.yaml',
        statefulset: `templates/${name}.yaml`,
      },
    },
  })}`;

const template = (name: string): string => readFileSync(join(TEMPLATES, name), 'utf8');

/** As the templates of Rill's own page were for a while: gRPC on the port of HTTP, and both listed. */
const portTwice = (text: string): string => text.replace('containerPort: 9090', 'containerPort: 8080');

const volume = (number: number): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `volume-${number}` },
  spec: {
    capacity: { storage: '1Ti' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'growing',
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: `/volumes/${number}` },
  },
});

/** Claims without a class get it; nothing makes volumes, but claims may grow. */
const GROWING = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'growing', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  allowVolumeExpansion: true,
};

/** Of another Muster that serves the same namespace. */
const FOREIGN = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'foreign',
    namespace: NAMESPACE,
    labels: { 'muster.io/cluster': 'another', 'muster.io/runtime': 'a' },
  },
  spec: { ports: [{ port: 80 }] },
};

export interface Made {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface RuntimeScene {
  readonly world: World;
  readonly cluster: ControlPlane;
  /** Kills the server and starts it anew. */
  killAndStart(): Promise<void>;
  readonly api: Api;
  muster(...words: readonly string[]): Promise<CliResult>;
  /** Every object of the namespace that a runtime may have; what every namespace has is left out. */
  objects(): Promise<readonly Made[]>;
  /** `Kind/name`, in order. */
  names(): Promise<readonly string[]>;
  object(kind: string, name: string): Promise<Made>;
  /** Resolves when it is in that phase. */
  untilPhase(id: string, phase: Runtime['phase']): Promise<Runtime>;
  /** What the server has written so far, without dry runs. */
  writes(): readonly Audited[];
  /** Checks a runtime now, and resolves with how it is when that check has ended. */
  check(id: string): Promise<Runtime>;
  /** Writes the template of the StatefulSet to `path`, changed so. */
  writeTemplate(path: string, change: (text: string) => string): void;
  /** Hosts whose `/v1/ping` was asked. */
  readonly pinged: Set<string>;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const isDryRun = ({ requestURI = '' }: Audited): boolean => requestURI.includes('dryRun=');

async function startPinged(pinged: Set<string>): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    pinged.add(request.headers.host ?? '');
    response.writeHead(request.url === '/v1/ping' ? 200 : 404).end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

export async function openRuntimeScene(
  world: World,
  programs: KubernetesPrograms,
): Promise<RuntimeScene & { close(): void }> {
  const pinged = new Set<string>();
  const cluster = await openControlPlane(world, programs);
  const room = { cpu: '10000', memory: '100000Gi', pods: '10000' };
  await cluster.apply(playedNode('wide', { allocatable: room }), GROWING);
  await cluster.apply(...Array.from({ length: VOLUMES }, (_, number) => volume(number)));
  await cluster.kubectl('create', 'namespace', NAMESPACE);
  await cluster.apply(FOREIGN);
  const kubeconfig = await grantRights(cluster, [NAMESPACE], rulesOf(RUNTIME_RIGHTS));
  for (const name of readdirSync(TEMPLATES)) world.write(`templates/${name}`, template(name));
  world.write('templates/short.yaml', template('statefulset.yaml'));
  world.write('templates/refused.yaml', portTwice(template('statefulset.yaml')));
  const { port, close } = await startPinged(pinged);
  const place = await placeServer(world, { agent_pools: [], runtimes: { max_updating: 3, halt_after: 2 } });
  const env = {
    RILL_ADMIN_PROVISIONER_SET_JSON: setFor(port, kubeconfig),
    RILL_ADMIN_DEFAULT_PROVISIONER: 'kubernetes-example',
  };
  let server: RunningServer = await startServer(world, place, env).ready();
  const api = apiOf(world, place.http);
  const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };
  const audited = (): readonly Audited[] => cluster.audited(ACCOUNT_USER).filter(({ verb }) => WRITES.has(verb));

  async function objects(): Promise<readonly Made[]> {
    const kinds = 'statefulsets,deployments,services,ingresses,persistentvolumeclaims,pods';
    const { items } = await cluster.get<{ items: Made[] }>(kinds, '-n', NAMESPACE);
    return items;
  }

  const scene: RuntimeScene & { close(): void } = {
    world,
    cluster,
    api,
    pinged,
    close,
    objects,
    muster: (...words) => runCli(world, words, address),
    async names() {
      return (await objects()).map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted();
    },
    object: (kind, name) => cluster.get<Made>(kind, name, '-n', NAMESPACE),
    untilPhase: (id, phase) =>
      until(`${id} is ${phase}`, async () => {
        const runtime = await api.get<Runtime>(`/runtimes/${id}`);
        return runtime.phase === phase && runtime;
      }),
    writes: () => audited().filter((one) => !isDryRun(one)),
    async killAndStart() {
      await server.kill();
      server = await startServer(world, place, env).ready();
    },
    check: (id) => api.post<Runtime>(`/runtimes/${id}/check`),
    writeTemplate: (path, change) => void world.write(path, change(template('statefulset.yaml'))),
  };
  return scene;
}
