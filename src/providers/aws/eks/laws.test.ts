import { testCluster } from '#conformance/cluster.ts';
import type { ClusterWorld } from '#conformance/cluster-world.ts';
import { MINUTE_MS } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import aws from '../index.ts';
import { REGION } from '../testing.ts';
import { type EksScene, openEksScene, ROLE } from './testing.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

function failAs(kind: FaultKind, { fake }: EksScene): void {
  fake.failureRules.clear();
  fake.principals.allow('eks:DescribeCluster');
  const without = (what: Parameters<typeof fake.failureRules.add>[0]) =>
    fake.failureRules.add({ times: ALWAYS, ...what });
  if (kind === 'denied') fake.principals.deny('eks:DescribeCluster');
  if (kind === 'throttled') without({ what: { kind: 'throttle' }, service: 'eks' });
  if (kind === 'unavailable') without({ what: { kind: 'lost request' } });
  if (kind === 'missing') fake.region(REGION).clusters.clear();
  if (kind === 'unauthenticated')
    without({ what: { kind: 'error', code: 'ExpiredToken', status: 403 }, service: 'sts' });
}

function openWorld(): ClusterWorld {
  const scene = openEksScene();
  const { fake, clock } = scene;
  return {
    open: () => scene.open({ roleArn: ROLE }),
    accepts: ({ headers }) => scene.presenterOf(headers.authorization)?.includes('assumed-role/muster-eks') ?? false,
    async rotate() {
      for (const key of fake.world.secrets.keys()) fake.principals.revoke(key);
    },
    pass: (ms) => clock.advance(ms),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    secrets: ['k8s-aws-v1.', 'secret-of-nobody', 'X-Amz-Signature'],
    place: REGION,
    asked: () => fake.countOf('AssumeRole'),
    lifetimeMs: 15 * MINUTE_MS,
    fail: async (kind) => failAs(kind, scene),
    hang: async () => void fake.failureRules.add({ what: { kind: 'hang' }, times: ALWAYS }),
    left: scene.running,
    close: async () => {},
  };
}

testCluster('eks by a role', {
  kind: aws.clusters.eks,
  faults: ['denied', 'throttled', 'unavailable', 'missing', 'unauthenticated'],
  openWorld: async () => openWorld(),
});
