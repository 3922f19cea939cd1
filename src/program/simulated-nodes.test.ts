import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import type { SimulatedNode } from '#core/simulation.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { sharedKube } from '#kube/shared.ts';
import { openKubeScene } from '../providers/kubernetes/testing.ts';
import { alignNodes, joinSimulatedNodes } from './simulated-nodes.ts';

const LABELS = { 'nodeprovisioner.compute.baseten.co/provisioner-name': 'h100' };

const machine = (name: string): SimulatedNode => ({
  name,
  providerId: `gce://my-project/us-central1-a/${name}`,
  labels: LABELS,
  allocatable: { cpu: '208', memory: '1871Gi', 'nvidia.com/gpu': '8' },
});

async function openScene() {
  const scene = openKubeScene({ nodes: [{ name: 'theirs' }] });
  const { clusterAt, fetchWith, clock, random, log } = scene.contextFor();
  if (!clusterAt || !fetchWith) throw new Error('The scene has no cluster.');
  const kube = sharedKube({ access: await clusterAt({}), fetchWith, clock, random, log });
  const align = (...names: readonly string[]): Promise<void> =>
    scene.during(alignNodes(kube, 'gcp', names.map(machine), going()));
  const names = (): readonly string[] => scene.fake.objects('nodes').map(({ metadata }) => metadata.name);
  return { ...scene, align, names };
}

it('machines that run are nodes with their labels and GPUs, and the node of one that is gone goes', async () => {
  const { align, names, fake } = await openScene();

  await align('a', 'b');
  await align('a', 'b');
  const first = fake.object('nodes', undefined, 'a');
  const before = names();
  await align('b', 'c');

  expect(before).toEqual(['a', 'b', 'theirs']);
  expect(first).toMatchObject({
    metadata: { labels: { ...LABELS, 'kubernetes.io/hostname': 'a', 'muster.io/simulated-by': 'gcp' } },
    spec: { providerID: 'gce://my-project/us-central1-a/a' },
    status: { allocatable: { cpu: '208', 'nvidia.com/gpu': '8', pods: '110' } },
  });
  expect(names()).toEqual(['b', 'c', 'theirs']);
});

it('nodes of others stay, whatever runs', async () => {
  const { align, names } = await openScene();

  await align('a');
  await align();

  expect(names()).toEqual(['theirs']);
});

it('a node that runs pods takes them with it', async () => {
  const { align, kubectl, fake, clock } = await openScene();
  await align('a');
  const containers = [{ name: 'main', image: 'main:1', resources: { limits: { 'nvidia.com/gpu': '8' } } }];
  await kubectl('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'train' }, spec: { containers } });
  await clock.advance(5_000);
  const placed = fake.object('pods', 'default', 'train')?.spec?.nodeName;

  await align();
  await clock.advance(60_000);

  expect(placed).toBe('a');
  expect(fake.objects('pods')).toEqual([]);
});

const deps = { clock: new VirtualClock(), random: systemRandom, log: silentLog };
const nodes = { running: () => [], tries: [] };

it('a cluster that is not on this computer is refused, and so is a cloud without nodes', async ({ onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const context = { cluster: 'c', user: 'u' };
  const file = {
    clusters: [{ name: 'c', cluster: { server: 'https://cluster.example:6443' } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(file));

  await expect(joinSimulatedNodes({ cloud: 'gcp', nodes, kubeconfig }, deps)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('https://cluster.example:6443'),
  });
  await expect(joinSimulatedNodes({ cloud: 'aws', nodes: undefined, kubeconfig }, deps)).rejects.toMatchObject({
    kind: 'invalid',
    remedy: expect.stringContaining('--kubeconfig'),
  });
});
