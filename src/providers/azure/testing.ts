// What the tests of this provider share: a fake Azure on a virtual clock, and a context that sees nothing else.

import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Context, Source } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { countedFetch } from '#fakes/counted-fetch.ts';
import { type MemoryFiles, memoryFiles } from '#kube/testing/memory-files.ts';
import type { Token } from '#rest/tokens.ts';
import { contextWithLog } from '../../conformance/backend-world.ts';
import { openAks } from './aks/cluster.ts';
import { AksConfig } from './aks/config.ts';
import { AppConfigurationConfig } from './app-configuration/config.ts';
import { openAppConfiguration } from './app-configuration/source.ts';
import { type FakeStore, openStore } from './fake/app-configuration/store.ts';
import { type FakeAzure, openFakeAzure } from './fake/fake-azure.ts';
import type { AksCluster } from './fake/world.ts';

export const CA = '-----BEGIN CERTIFICATE-----\nof velda-cluster\n-----END CERTIFICATE-----\n';
export const SERVER = 'https://velda-1a2b.hcp.westeurope.azmk8s.io:443';
export const SECRET = 'planted-secret-77';
export const CLUSTER = { name: 'velda-cluster', resourceGroup: 'velda', server: SERVER, ca: CA };
export const AKS_SERVER = '6dae42f8-4368-4678-94ff-3960e28e3630';

export interface Scene {
  readonly clock: VirtualClock;
  readonly fake: FakeAzure;
  readonly lines: string[];
  readonly files: MemoryFiles;
  /** What az answers; absent: it is not installed. */
  az: ((resource: string) => Token) | undefined;
  readonly variables: Record<string, string>;
  readonly context: Context;
  /** How many requests are on their way. */
  running(): number;
  open(config?: object): Promise<ClusterAccess>;
  /** The store that `openSource` reads. */
  readonly store: FakeStore;
  openSource(config?: object): Promise<Source>;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
}

/** One cluster, one empty store, and an application with a secret. */
export function openScene(cluster: AksCluster = CLUSTER): Scene {
  const clock = new VirtualClock();
  const fake = openFakeAzure(clock);
  const lines: string[] = [];
  const files = memoryFiles();
  const variables: Record<string, string> = {
    AZURE_TENANT_ID: 'tenant1',
    AZURE_CLIENT_ID: 'app1',
    AZURE_CLIENT_SECRET: SECRET,
  };
  const { fetch, running } = countedFetch(fake.fetch);
  fake.world.clusters.push(cluster);
  fake.world.proofs.set('app1', SECRET);
  const store = openStore('velda-pools', clock);
  fake.world.stores.set(store.name, store);
  const place = { endpoint: 'https://velda-pools.azconfig.io', configPrefix: 'pools/' };
  const context = contextWithLog(
    {
      cluster: 'cluster1',
      clock,
      random: seededRandom(1),
      fetch,
      dataDir: '/nowhere',
      agentCommand: [],
      variable: (name) => variables[name],
    },
    lines,
  );
  const seed = { subscriptionId: fake.world.subscriptionId, resourceGroup: 'velda', clusterName: 'velda-cluster' };
  const scene: Scene = {
    clock,
    fake,
    lines,
    files,
    az: undefined,
    variables,
    context,
    running,
    store,
    openSource: (config = {}) =>
      openAppConfiguration(AppConfigurationConfig.parse({ ...place, ...config }), context, {
        files,
        cli: async (resource) => scene.az?.(resource),
      }),
    open: async (config = {}) =>
      openAks(AksConfig.parse({ ...seed, ...config }), context, {
        files,
        cli: async (resource) => scene.az?.(resource),
      }),
    during: (call) => during(clock, call),
  };
  return scene;
}
