import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import { seededRandom } from '#core/random.ts';
import type { KubeObject } from '#kube/object.ts';
import { type NodeFact, nodeFactOf, type PodFact, podReader } from '../src/nodes/cluster-objects.ts';
import { planInSlices } from '../src/nodes/defragmentation/planning.ts';
import { type EvaluateInput, evaluate } from '../src/nodes/evaluate.ts';
import { POOL_LABEL } from '../src/nodes/objects.ts';
import { isPolicy, readPolicy } from '../src/nodes/policy.ts';
import { type SeenGroup, survey } from '../src/nodes/survey.ts';
import type { Bench, Report } from './bench.ts';
import { inUse } from './parts/memory.ts';
import { median } from './parts/numbers.ts';
import { threadCpuMs, watchStalls } from './parts/stalls.ts';

const NAME = 'h100';
const NODES = 1_000;
const PODS = 10_000;
const WAITING = 1_000;
const GPUS = 8;
const TEMPLATES = 500;
const ROUNDS = 15;
const GPU = 'nvidia.com/gpu';
const SIZES = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2];
const TEMPLATE: NodeTemplate = {
  allocatable: { cpu: 208_000, memory: 1_800 * 2 ** 30, pods: 110, [GPU]: GPUS },
  labels: {},
  taints: [],
};
const AT = '2026-01-01T00:00:00Z';

/** As large as pods are: with variables, volumes, conditions and the fields of who wrote them. */
function podObject(at: number, gpus: number, node: string): KubeObject {
  const app = `app-${at % TEMPLATES}`;
  const amounts = { cpu: '1', memory: '2Gi', ...(gpus > 0 && { [GPU]: String(gpus) }) };
  const env = Array.from({ length: 12 }, (_, n) => ({ name: `VARIABLE_${n}`, value: `the value of ${app} and ${n}` }));
  const condition = { type: 'PodScheduled', status: node === '' ? 'False' : 'True', lastTransitionTime: AT };
  const refusal = node === '' ? { reason: 'Unschedulable', message: '0/1000 nodes are available.' } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${app}-${at}`,
      namespace: 'ml',
      uid: `uid-of-pod-${at}`,
      creationTimestamp: AT,
      labels: { app },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: app, uid: app, controller: true }],
    },
    spec: {
      ...(node !== '' && { nodeName: node }),
      containers: [{ name: 'main', image: `registry.test/${app}:1`, env, resources: { requests: amounts } }],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
    status: { phase: node === '' ? 'Pending' : 'Running', conditions: [{ ...condition, ...refusal }] },
  };
}

const nodeObject = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-of-${name}`, creationTimestamp: AT, labels: { [POOL_LABEL]: NAME } },
  spec: { providerID: `cloud://${name}` },
  status: {
    allocatable: { cpu: '208', memory: '1800Gi', pods: '110', [GPU]: String(GPUS) },
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT }],
  },
});

interface Kept {
  readonly nodes: readonly NodeFact[];
  readonly podsOn: ReadonlyMap<string, readonly PodFact[]>;
  readonly waiting: readonly PodFact[];
}

/** What the server keeps of them; the objects themselves are dropped. */
function keepFacts(): Kept {
  const random = seededRandom(1);
  const read = podReader();
  const nodes = Array.from({ length: NODES }, (_, at) => nodeFactOf(nodeObject(`node-${at}`)));
  const podsOn = new Map<string, PodFact[]>(nodes.map(({ name }) => [name, []]));
  const free = new Map(nodes.map(({ name }) => [name, GPUS]));
  for (let at = 0; at < PODS; at++) {
    // The first tenth of the nodes is full of pods, the last is nearly empty, as a scheduler leaves them that spreads.
    const node = `node-${Math.floor(NODES * random.next() ** 1.3)}`;
    const gpus = Math.min(SIZES[at % SIZES.length] ?? 0, free.get(node) ?? 0);
    free.set(node, (free.get(node) ?? 0) - gpus);
    podsOn.get(node)?.push(read(podObject(at, gpus, node)));
  }
  const waiting = Array.from({ length: WAITING }, (_, at) => read(podObject(PODS + at, 1 + (at % 8), '')));
  return { nodes, podsOn, waiting };
}

function inputOf({ nodes, podsOn, waiting }: Kept): EvaluateInput {
  const policy = readPolicy({ existingInstanceGroupNames: [NAME], minUnutilizedGPUNodes: 1 });
  const [group] = isPolicy(policy) ? policy.groups : [];
  if (!isPolicy(policy) || !group) throw new Fault('internal', 'The spec is not valid.');
  const instances = nodes.map(({ name, providerId, createdAt }) => ({
    ...{ id: name, name, providerId, createdAt, state: 'running' as const },
  }));
  const account = { kind: 'bench', config: {}, groups: ['*'] };
  const state = { wanted: NODES, template: TEMPLATE, instances, requests: [] };
  const groups: SeenGroup[] = [{ id: NAME, account, policy: group, state, hasQueue: false, row: undefined }];
  const now = Date.parse(AT) + 3_600_000;
  const podStay = { ofItself: () => undefined, ofBudget: () => undefined };
  const seen = survey({
    ...{
      name: NAME,
      now,
      policy,
      nodes,
      otherNodes: [],
      groups,
      podStay,
      leaving: new Set<string>(),
      letGo: new Set<string>(),
    },
    podsOn: (node) => podsOn.get(node) ?? [],
  });
  if (!seen) throw new Fault('internal', 'No GPU is to be seen.');
  const rooms = new Map([[account, Number.POSITIVE_INFINITY]]);
  return { survey: seen, policy, groups, pending: waiting, others: [], rooms, now };
}

async function run(report: Report): Promise<void> {
  const before = await inUse();
  const kept = keepFacts();
  const after = await inUse();
  report.figure('nodes-memory', (after.rss - before.rss) / 2 ** 20, {
    note: `${((after.heap - before.heap) / 2 ** 20).toFixed(1)} MB of them objects`,
  });

  const [evaluations, plans]: [number[], number[]] = [[], []];
  const withWaiting = inputOf(kept);
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = threadCpuMs();
    evaluate(withWaiting);
    evaluations.push(threadCpuMs() - startMs);
  }
  report.figure('nodes-evaluate', median(evaluations), {
    note: `of ${ROUNDS}, the first ${Math.round(evaluations[0] ?? 0)} ms`,
  });

  const calm = { ...withWaiting, pending: [] };
  const input = { name: NAME, ...calm, evaluation: evaluate(calm) };
  const peers = { otherRooms: () => [], takers: () => new Set<string>() };
  const stalls = watchStalls();
  let freed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = threadCpuMs();
    freed = (await planInSlices(systemClock, input, peers)).freed.length;
    plans.push(threadCpuMs() - startMs);
  }
  report.figure('nodes-plan', median(plans), { note: `${freed} of ${NODES} nodes can be emptied` });
  report.figure('nodes-plan-stall', stalls.stop().cpuMs);
}

export const bench: Bench = {
  order: 92,
  name: 'node-decisions',
  measures: ['nodes-memory', 'nodes-evaluate', 'nodes-plan', 'nodes-plan-stall'],
  limitMs: 120_000,
  run,
};
