// The packer's reckoning beside the scheduler of the simulated cluster, which shares no code with it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeTaint } from '#core/node-group.ts';
import type { KubeObject as FakeObject } from '../../providers/kubernetes/fake/objects/object.ts';
import { requestsOf } from '../../providers/kubernetes/fake/pods/asked.ts';
import { repelsOthers } from '../../providers/kubernetes/fake/pods/neighbours.ts';
import { refusals } from '../../providers/kubernetes/fake/pods/scheduler.ts';
import { GPU, HOSTNAME, type PodDraft, podObject, ZONE } from '../testing/objects.ts';
import { readAllocatable } from './amounts.ts';
import { obstacleIn } from './pack.ts';
import { podClassOf } from './pod-class.ts';
import { addTo, openPodRoom } from './room.ts';
import { openTopology } from './topology.ts';

const app = fc.constantFrom('a', 'b');
const key = fc.constantFrom(HOSTNAME, ZONE, 'rack');

const selector = fc.oneof(
  app.map((name) => ({ matchLabels: { app: name } })),
  app.map((name) => ({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: [name] }] })),
  fc.constant({}),
);
const term = fc.record(
  { topologyKey: key, labelSelector: selector, namespaces: fc.constantFrom(['ml'], ['web'], ['ml', 'web']) },
  { requiredKeys: ['topologyKey', 'labelSelector'] },
);
const terms = fc
  .array(term, { minLength: 1, maxLength: 2 })
  .map((all) => ({ requiredDuringSchedulingIgnoredDuringExecution: all }));
const spread = fc.record(
  {
    topologyKey: key,
    maxSkew: fc.integer({ min: 1, max: 2 }),
    whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
    labelSelector: selector,
    minDomains: fc.integer({ min: 1, max: 3 }),
    nodeAffinityPolicy: fc.constantFrom('Honor', 'Ignore'),
    nodeTaintsPolicy: fc.constantFrom('Honor', 'Ignore'),
    matchLabelKeys: fc.constant(['app']),
  },
  { requiredKeys: ['topologyKey', 'maxSkew', 'whenUnsatisfiable', 'labelSelector'] },
);
const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.constantFrom(['1'], ['2']) }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  fc.record({ key: fc.constant('rack'), operator: fc.constantFrom('Gt', 'Lt'), values: fc.constant(['1']) }),
);
const nodeAffinity = fc
  .array(
    fc.array(expression, { maxLength: 2 }).map((matchExpressions) => ({ matchExpressions })),
    { maxLength: 2 },
  )
  .map((nodeSelectorTerms) => ({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }));
const container = fc
  .record({ gpus: fc.integer({ min: 0, max: 3 }), hostPort: fc.constantFrom(undefined, undefined, undefined, 80) })
  .map(({ gpus, hostPort }) => ({
    name: 'main',
    resources: { requests: { [GPU]: String(gpus), cpu: '500m' } },
    ...(hostPort !== undefined && { ports: [{ hostPort }] }),
  }));
/** Most pods demand little, so that many are let in somewhere. */
const rarely = <T>(any: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: any });
const init = fc
  .tuple(container, fc.boolean())
  .map(([one, isSidecar]) => ({ ...one, ...(isSidecar && { restartPolicy: 'Always' }) }));
const spec = fc.record({
  containers: container.map((one) => [one]),
  initContainers: rarely(fc.array(init, { maxLength: 2 })),
  overhead: rarely(fc.constant({ cpu: '250m' })),
  nodeSelector: rarely(fc.constant({ rack: '1' })),
  tolerations: fc.constantFrom(
    undefined,
    [{ operator: 'Exists' }],
    [{ key: 'gpu', value: 'x' }],
    [{ key: 'gpu', operator: 'Exists' }],
  ),
  topologySpreadConstraints: rarely(fc.array(spread, { maxLength: 2 })),
  affinity: fc.record({
    nodeAffinity: rarely(nodeAffinity),
    podAffinity: rarely(terms),
    podAntiAffinity: rarely(terms),
  }),
});
const pod: fc.Arbitrary<PodDraft> = fc.record({
  labels: fc.record({ app }),
  namespace: fc.constantFrom('ml', 'web'),
  spec,
});
const node = fc.record({
  zone: fc.constantFrom('1', '2'),
  rack: fc.constantFrom(undefined, '1', '2'),
  taint: fc.constantFrom<NodeTaint | undefined>(undefined, { key: 'gpu', value: 'x', effect: 'NoSchedule' }),
  gpus: fc.integer({ min: 4, max: 8 }),
});

const world = fc.record({
  nodes: fc.array(node, { minLength: 1, maxLength: 4 }),
  placed: fc.array(fc.record({ pod, at: fc.nat() }), { maxLength: 6 }),
  pod,
});
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

function nodeObject({ zone, rack, taint, gpus }: World['nodes'][number], at: number) {
  const name = `n${at}`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, labels: { [HOSTNAME]: name, [ZONE]: zone, ...(rack && { rack }) } },
    spec: { taints: taint ? [taint] : [] },
    status: { allocatable: { cpu: '4', memory: '64Gi', pods: '4', [GPU]: String(gpus) } },
  } as unknown as FakeObject;
}

/** On which nodes the pod may be, by each of the two. */
function verdicts({ nodes: drafts, placed, pod: wanted }: World) {
  const nodes = drafts.map(nodeObject);
  const classes = new Map();
  const rooms = nodes.map(({ metadata, spec: { taints } = {}, status }) => {
    const node = { name: metadata.name, labels: metadata.labels ?? {}, taints: taints as NodeTaint[] };
    return openPodRoom({ ...node, kind: 'ready', allocatable: readAllocatable(status?.allocatable) });
  });
  const on = new Map<string, FakeObject[]>(nodes.map(({ metadata }) => [metadata.name, []]));
  const used = new Map<string, Record<string, number>>();
  for (const [index, { pod: draft, at }] of placed.entries()) {
    const room = rooms[at % rooms.length];
    const object = podObject(`p${index}`, draft);
    if (!room) continue;
    addTo(room, podClassOf(object, classes));
    on.get(room.name)?.push(object as FakeObject);
    const sums = used.get(room.name) ?? {};
    used.set(room.name, sums);
    for (const [name, asked] of Object.entries(requestsOf(object as FakeObject)))
      sums[name] = (sums[name] ?? 0) + asked;
  }
  const object = podObject('wanted', wanted);
  const ofClass = podClassOf(object, classes);
  const topology = openTopology(rooms);
  const found = refusals(object as FakeObject, {
    nodes,
    podsOn: (name) => on.get(name) ?? [],
    usedOn: (name) => used.get(name) ?? {},
    isAnyRepelling: () => [...on.values()].flat().some(repelsOthers),
  });
  return {
    packer: rooms.filter((room) => obstacleIn(room, ofClass, topology) === undefined).map(({ name }) => name),
    scheduler: nodes.filter((one) => found.get(one)?.length === 0).map(({ metadata }) => metadata.name),
  };
}

describe('packer and scheduler', () => {
  it('let any pod on the same nodes, whatever is there and whatever it demands', () => {
    let admitted = 0;
    fc.assert(
      fc.property(world, (any) => {
        const { packer, scheduler } = verdicts(any);
        admitted += scheduler.length;
        expect(packer).toEqual(scheduler);
      }),
      { numRuns: 500 },
    );
    expect(admitted).toBeGreaterThan(200);
  });
});
