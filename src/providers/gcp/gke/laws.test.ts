import { testCluster } from '#conformance/cluster.ts';
import type { ClusterWorld } from '#conformance/cluster-world.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import { TOKEN_SECONDS } from '../fake/tokens.ts';
import gcp from '../index.ts';
import { ACCOUNT, openScene, type Scene, SERVICE_ACCOUNT } from '../testing.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

function failAs(kind: FaultKind, { fake }: Scene): void {
  const { world, failureRules } = fake;
  failureRules.clear();
  world.denied.clear();
  if (kind === 'denied') world.denied.add('container.clusters.get');
  if (kind === 'missing') world.clusters.clear();
  if (kind === 'throttled') failureRules.add({ what: { kind: 'throttle' }, service: 'container', times: ALWAYS });
  if (kind === 'unavailable') failureRules.add({ what: { kind: 'lost request' }, times: ALWAYS });
  if (kind === 'unauthenticated') {
    world.accountKeys.clear();
    world.machineAccount = undefined;
  }
}

function worldOf(scene: Scene, place: string): ClusterWorld {
  const { fake, clock } = scene;
  return {
    open: () => scene.open(),
    accepts: ({ headers }) => fake.world.granted.whose(headers.authorization?.replace('Bearer ', '')) === ACCOUNT,
    rotate: async () => fake.world.granted.revokeAll(),
    pass: (ms) => clock.advance(ms),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    secrets: ['ya29.planted', SERVICE_ACCOUNT.private_key, 'PRIVATE KEY'],
    place,
    asked: fake.asked,
    lifetimeMs: TOKEN_SECONDS * SECOND_MS,
    fail: async (kind) => failAs(kind, scene),
    hang: async () => void fake.failureRules.add({ what: { kind: 'hang' }, times: ALWAYS }),
    left: scene.running,
    close: async () => {},
  };
}

testCluster('gke by the key of a service account', {
  kind: gcp.clusters.gke,
  faults: ['denied', 'throttled', 'unavailable', 'missing', 'unauthenticated'],
  async openWorld() {
    const scene = openScene();
    scene.writeCredentials(SERVICE_ACCOUNT);
    return worldOf(scene, 'googleapis.com');
  },
});

testCluster('gke by the metadata server', {
  kind: gcp.clusters.gke,
  faults: ['unavailable', 'unauthenticated'],
  async openWorld() {
    const scene = openScene();
    scene.fake.world.machineAccount = ACCOUNT;
    return worldOf(scene, 'metadata.google.internal');
  },
});
