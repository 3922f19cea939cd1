// What a pass of this controller would see of the simulated nodes.
import { Fault } from '#core/fault.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import type { NodeFact, PodFact } from '../../src/nodes/cluster-objects.ts';
import type { PodStay } from '../../src/nodes/pod-stay.ts';
import type { Policy } from '../../src/nodes/policy.ts';
import { type PodClasses, podClassOf } from '../../src/nodes/simulation/pod-class.ts';
import type { NodeSurvey, SeenGroup, SurveyedNode } from '../../src/nodes/survey.ts';
import { BOOT_MS, type Fleet, type FleetNode, GPUS_PER_NODE } from './fleet.ts';
import type { Task } from './trace.ts';

const GPU = 'nvidia.com/gpu';
const ALLOCATABLE = { [GPU]: GPUS_PER_NODE, pods: 110 };
const TEMPLATE: NodeTemplate = { allocatable: ALLOCATABLE, labels: {}, taints: [] };

const classes: PodClasses = new Map();
const pods = new WeakMap<Task, PodFact>();

/** A pod that the scheduler has refused, for as long as it is not on a node. */
export function podOf(task: Task): PodFact {
  const known = pods.get(task);
  if (known) return known;
  const { name, gpus } = task;
  const containers = [{ name: 'main', resources: { requests: { [GPU]: String(gpus) } } }];
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { containers } };
  const pod: PodFact = {
    ...{ key: name, uid: name, class: podClassOf(object, classes), node: '', createdAt: 0, refusal: 'no room' },
    ...{ isOfNode: false, isEnded: false, isDeleted: false, isSpokenFor: false, mustStay: false },
  };
  pods.set(task, pod);
  return pod;
}

function factOf({ name, askedAtMs }: FleetNode, deletionAt: number | undefined): NodeFact {
  return {
    ...{ name, uid: name, resourceVersion: '', provisioner: 'g', providerId: name, labels: {}, taints: [] },
    ...{ createdAt: askedAtMs, readySince: askedAtMs + BOOT_MS, allocatable: ALLOCATABLE, isReady: true },
    ...{ isCordoned: false, cordonedByUs: false, isKeptIdle: false, mustStay: false, deletionAt },
  };
}

/** The one group, which can grow without end. */
export function groupOf({ nodes }: Fleet, { groups }: Policy): SeenGroup {
  const [policy] = groups;
  if (!policy) throw new Fault('invalid', 'The policy names no group.');
  const state = { wanted: nodes.size, template: TEMPLATE, instances: [], requests: [] };
  const account = { kind: 'replay', config: {}, groups: ['*'] };
  return { id: 'g', account, policy, state, hasQueue: false, row: undefined };
}

/** `deletionAt`: of nodes that bear our taint. */
export function surveyOf(
  { nodes }: Fleet,
  group: SeenGroup,
  deletionAt: ReadonlyMap<FleetNode, number>,
  podStay: PodStay,
): NodeSurvey {
  const surveyed: SurveyedNode[] = [];
  const coming: NodeSurvey['coming'][number][] = [];
  for (const node of nodes) {
    if (!node.isReady) {
      coming.push({ group, name: node.name });
      continue;
    }
    const at = deletionAt.get(node);
    surveyed.push({
      ...{ fact: factOf(node, at), phase: at === undefined ? 'ready' : 'tainted', group, ofNode: [] },
      ...{ instance: { id: node.name, name: node.name, providerId: node.name, state: 'running', createdAt: 0 } },
      ...{ pods: [...node.tasks].map(podOf), gpus: GPUS_PER_NODE, gpusRequested: GPUS_PER_NODE - node.free },
    });
  }
  const templates = new Map([[group.id, TEMPLATE]]);
  return {
    gpu: GPU,
    templates,
    nodes: surveyed,
    coming,
    lost: [],
    unknown: [],
    unlabelled: [],
    turnedUnready: 0,
    podStay,
  };
}
