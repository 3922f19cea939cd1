// Karpenter on a control plane, with one kind of machine like those of Muster's groups.
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { World } from '../../system/harness/world.ts';
import { ADMIN, type ControlPlane } from './control-plane.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import type { Karpenter } from './karpenter.ts';
import { PLAYED } from './kwok.ts';

const MACHINE = 'gpu-8x-h100';
const POOL = 'gpu';

/** The label of nodes that Karpenter makes, and what its pods select. */
export const KARPENTER_FLEET = { fleet: 'karpenter' };

/** Of several types it would take the cheapest. */
const MACHINE_TYPES = [
  {
    name: MACHINE,
    architecture: 'amd64',
    operatingSystems: ['linux'],
    resources: { cpu: '208', memory: '1800Gi', pods: '110', 'ephemeral-storage': '6000Gi', 'nvidia.com/gpu': '8' },
    offerings: [
      {
        Price: 80,
        Available: true,
        Requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['test-zone-a'] },
        ],
      },
    ],
  },
];

const nodeClass = (bootSeconds: number): object => ({
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: 'default' },
  spec: { nodeRegistrationDelay: `${bootSeconds}s` },
});

const nodePool = (movesPods: boolean): object => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: POOL },
  spec: {
    template: {
      metadata: { labels: { ...KARPENTER_FLEET, ...PLAYED } },
      spec: {
        requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [MACHINE] }],
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        expireAfter: 'Never',
      },
    },
    disruption: {
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      consolidateAfter: movesPods ? '30s' : 'Never',
      budgets: [{ nodes: '10%' }],
    },
  },
});

export interface KarpenterOptions {
  /** From its request for a machine to the node. */
  readonly bootSeconds: number;
  /** Whether it gives nodes back; it evicts pods without a controller too, which nobody makes again. */
  readonly movesPods: boolean;
}

/** Starts it, and waits until it serves its pool. */
export async function startKarpenter(
  world: World,
  cluster: ControlPlane,
  { program, crds }: Karpenter,
  { bootSeconds, movesPods }: KarpenterOptions,
): Promise<Daemon> {
  await cluster.apply(...crds);
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s');
  // Both ports listen on all addresses of the machine, for as long as the test runs.
  const env = {
    KUBECONFIG: cluster.kubeconfigOf(ADMIN),
    DISABLE_LEADER_ELECTION: 'true',
    METRICS_PORT: String(await freePort()),
    HEALTH_PROBE_PORT: String(await freePort()),
    INSTANCE_TYPES_FILE_PATH: world.write('karpenter-machines.json', JSON.stringify(MACHINE_TYPES)),
  };
  const daemon = startDaemon(world, 'karpenter', [program], { env });
  await cluster.apply(nodeClass(bootSeconds), nodePool(movesPods));
  await until('Karpenter serves its pool', async () => {
    const { status } = await cluster.get<{ status?: { conditions?: { type: string; status: string }[] } }>(
      'nodepool',
      POOL,
    );
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  });
  return daemon;
}
