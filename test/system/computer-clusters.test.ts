// The platforms of computers that are clusters of clouds, by the kinds that the program has: each opens its cluster with the
// credentials of its cloud, and makes a machine there.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openClusters } from '#clouds/clusters.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Context, Kinds, Launch } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { going } from '#core/testing/going.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import { allKinds } from '../../scripts/gen.ts';
import { offerFor } from '../../src/computers/offer.ts';
import { placeOn } from '../../src/computers/platforms/platforms.ts';
import { contextWithLog } from '../../src/conformance/backend-world.ts';
import { NAME as EKS_NAME, SERVER as EKS_SERVER, openEksScene } from '../../src/providers/aws/eks/testing.ts';
import { REGION } from '../../src/providers/aws/testing.ts';
import { whose } from '../../src/providers/azure/fake/world.ts';
import {
  SERVER as AKS_ADDRESS,
  CLUSTER as AKS_CLUSTER,
  AKS_SERVER,
  openScene as openAzure,
} from '../../src/providers/azure/testing.ts';
import { ACCOUNT, openScene as openGoogle, SEED } from '../../src/providers/gcp/testing.ts';
import { openFakeKubernetes } from '../../src/providers/kubernetes/fake/fake-kubernetes.ts';
import { ROOT } from './harness/world.ts';

interface Cloud {
  readonly clock: VirtualClock;
  readonly context: Context;
  readonly options: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly server: string;
  during<T>(call: Promise<T>): Promise<T>;
  /** Whether the cloud's cluster knows who shows this. */
  knows(authorization: string): boolean;
}

const IMAGE = 'host.example/agent:1.2.0';

const CLOUDS: Readonly<Record<string, () => Cloud>> = {
  aws_eks() {
    const scene = openEksScene();
    return {
      ...scene,
      context: scene.contextFor('cluster1'),
      options: { cluster_name: EKS_NAME, region: REGION, image: IMAGE },
      server: EKS_SERVER,
      knows: (authorization) => scene.presenterOf(authorization) !== undefined,
    };
  },
  azure_aks() {
    const scene = openAzure();
    return {
      ...scene,
      options: { cluster_name: AKS_CLUSTER.name, resource_group: AKS_CLUSTER.resourceGroup, image: IMAGE },
      variables: { AZURE_SUBSCRIPTION_ID: scene.fake.world.subscriptionId },
      server: AKS_ADDRESS,
      knows: (authorization) => whose(scene.fake.world, authorization.slice(7), AKS_SERVER) === 'app1',
    };
  },
  gcp_gke() {
    const scene = openGoogle();
    scene.fake.world.machineAccount = ACCOUNT;
    return {
      ...scene,
      options: { cluster_name: SEED.clusterName, region: SEED.location, project_id: SEED.project, image: IMAGE },
      server: 'https://34.1.2.3',
      knows: (authorization) => scene.fake.world.granted.whose(authorization.slice(7)) === ACCOUNT,
    };
  },
};

const LAUNCH: Launch = {
  id: 'l-1',
  mark: { cluster: 'cluster1', use: 'computer', owner: 'c-1', shape: 's-1' },
  names: ['c-dev-1'],
  boot: { agentConfig: 'pool: dev\n', token: 'once', port: 8_000 },
  askedAt: 0,
};

let kinds: KnownKinds;
beforeAll(async () => {
  kinds = await allKinds(ROOT);
  // On the virtual clock hours would pass while it is loaded.
  const loaded = ['aws/eks/cluster', 'azure/aks/cluster', 'gcp/gke/cluster', 'kubernetes/deployments/backend'];
  await Promise.all(loaded.map((file) => import(join(ROOT, 'src/providers', `${file}.ts`))));
});

const placed = (platform: string, options: object, variables: Readonly<Record<string, string>> = {}) => {
  const context = { agentImage: 'muster/agent:1', variable: (name: string) => variables[name] };
  return offerFor(kinds, placeOn(platform, options as Record<string, string>, context).backend);
};

test.each(Object.keys(CLOUDS))('a computer on %s opens its cluster, and has a machine there', async (platform) => {
  const { clock, context, options, variables, server, during, knows } = (CLOUDS[platform] as () => Cloud)();
  const fake = openFakeKubernetes({ clock, random: seededRandom(1) });
  const shown = new Set<boolean>();
  // Behind its address the cluster asks its cloud who calls.
  const fetchOfCluster: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const isThere = new URL(request.url).origin === new URL(server).origin;
    shown.add(isThere && knows(request.headers.get('authorization') ?? ''));
    const headers = new Headers(request.headers);
    headers.delete('authorization');
    return fake.fetch(new Request(request, { headers }));
  };
  const { kind, config } = placed(platform, { namespace: 'default', ...options }, variables);
  const clusters = openClusters({
    kinds: kinds.clusters as Kinds<ClusterAccess>,
    named: {},
    context,
    log: context.log,
  });
  const lines: string[] = [];
  const ours = { ...context, fetchWith: () => fetchOfCluster, clusterAt: clusters.at };
  const found = kinds.backends?.[kind];
  if (!found) throw new Fault('missing', `There is no backend ${kind}.`);
  const backend = await during(found.open(config, contextWithLog(ours, lines)));

  const outcomes = await during(backend.create(LAUNCH, going()));
  await clock.advance(20_000);
  const machines = await during(backend.list(going()));

  expect(kind).toBe('kubernetes_deployment');
  expect(outcomes).toEqual([{ name: 'c-dev-1' }]);
  expect(machines).toMatchObject([{ name: 'c-dev-1', state: 'running', endpoints: [{ port: 8_000 }] }]);
  expect([...shown]).toEqual([true]);
  await backend.close?.();
  await clusters.closeAll();
});

test('a computer on kubernetes names no cluster: it is that of kubectl', () => {
  const { kind, config } = placed('kubernetes', { namespace: 'lab' });

  expect(kind).toBe('kubernetes_deployment');
  expect(config).toMatchObject({ namespace: 'lab', image: 'muster/agent:1', serviceType: 'ClusterIP' });
  for (const key of ['cluster', 'context', 'eks', 'aks', 'gke']) expect(config).not.toHaveProperty(key);
});
