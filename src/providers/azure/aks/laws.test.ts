import { testCluster } from '#conformance/cluster.ts';
import type { ClusterWorld } from '#conformance/cluster-world.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import { TOKEN_SECONDS, whose } from '../fake/world.ts';
import azure from '../index.ts';
import { AKS_SERVER, CLUSTER, openScene, type Scene, SECRET } from '../testing.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

function failAs(kind: FaultKind, { fake }: Scene): void {
  const { world, failureRules } = fake;
  failureRules.clear();
  world.denied.clear();
  if (kind === 'denied')
    world.denied.add('Microsoft.ContainerService/managedClusters/listClusterUserCredential/action');
  if (kind === 'throttled') failureRules.add({ what: { kind: 'throttle' }, service: 'management', times: ALWAYS });
  if (kind === 'unavailable') failureRules.add({ what: { kind: 'lost request' }, times: ALWAYS });
  if (kind === 'missing') world.clusters.length = 0;
  if (kind === 'unauthenticated') {
    world.proofs.clear();
    world.machineIdentities.length = 0;
  }
}

function worldOf(scene: Scene): ClusterWorld {
  const { fake, clock } = scene;
  const { world } = fake;
  return {
    open: () => scene.open(),
    accepts: ({ headers }) => whose(world, headers.authorization?.slice(7) ?? '', AKS_SERVER) !== undefined,
    rotate: async () => world.granted.clear(),
    pass: (ms) => clock.advance(ms),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    secrets: ['eyJ.planted', SECRET],
    place: '',
    asked: () => fake.countOf('entra.token') + fake.countOf('imds.token'),
    lifetimeMs: TOKEN_SECONDS * SECOND_MS,
    fail: async (kind) => failAs(kind, scene),
    hang: async () => void fake.failureRules.add({ what: { kind: 'hang' }, times: ALWAYS }),
    left: scene.running,
    close: async () => {},
  };
}

testCluster('aks by a client secret', {
  kind: azure.clusters.aks,
  faults: ['denied', 'throttled', 'missing'],
  openWorld: async () => ({ ...worldOf(openScene()), place: 'management.azure.com' }),
});

testCluster('aks by a client secret that Entra refuses', {
  kind: azure.clusters.aks,
  faults: ['unavailable', 'unauthenticated'],
  openWorld: async () => ({ ...worldOf(openScene()), place: 'login.microsoftonline.com' }),
});

testCluster('aks by a managed identity', {
  kind: azure.clusters.aks,
  faults: ['unavailable', 'unauthenticated'],
  async openWorld() {
    const scene = openScene();
    delete scene.variables.AZURE_CLIENT_SECRET;
    scene.fake.world.machineIdentities.push('app1');
    return { ...worldOf(scene), place: '169.254.169.254' };
  },
});

testCluster('aks by the local account of a cluster without Entra', {
  kind: azure.clusters.aks,
  faults: ['denied', 'missing'],
  excuses: { expires: 'The account of the cluster has no end; it is read again when it is refused.' },
  async openWorld() {
    const scene = openScene({ ...CLUSTER, localToken: 'planted-local-1' });
    const { world } = scene.fake;
    let serial = 1;
    return {
      ...worldOf(scene),
      accepts: ({ headers, tls }) =>
        headers.authorization === `Bearer planted-local-${serial}` && tls.cert === 'certificate of velda-cluster',
      async rotate() {
        serial += 1;
        world.clusters[0] = { ...CLUSTER, localToken: `planted-local-${serial}` };
      },
      asked: () => scene.fake.countOf('management.listClusterUserCredential'),
      lifetimeMs: undefined,
      secrets: ['planted-local', 'planted-key', SECRET],
      place: 'management.azure.com',
    };
  },
});
