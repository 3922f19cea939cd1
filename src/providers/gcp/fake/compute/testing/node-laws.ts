// The world in which the laws of node groups are tried on the fake Compute Engine.
import type { FaultKind } from '#core/fault.ts';
import type { NodeGroups } from '#core/node-group.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { NodeGroupsWorld } from '../../../../../conformance/node-groups-world.ts';
import type { GcpCall } from '../../read-call.ts';
import { createManaged, type FakeGroup, isThere, targetSizeOf } from '../group.ts';
import { isLiving } from '../instance.ts';
import { grantWaiting } from '../resize-requests.ts';
import { PROJECT } from '../seed-data.ts';
import { type ComputeScene, openComputeScene } from './scene.ts';

export const GPU_TEMPLATE = 'h100-nodes-v1';
const STOCKED = ['us-central1-a', 'us-central1-b', 'us-central1-c', 'us-east1-b'];
const MACHINE_TYPE = 'a3-highgpu-8g';
const ALWAYS = 1_000_000;

const refused = (code: string, status: number): CallFailure => ({ kind: 'error', code, message: code, status });

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  quota: refused('quotaExceeded', 403),
  invalid: refused('invalid', 400),
  throttled: { kind: 'throttle' },
  denied: refused('forbidden', 403),
  unavailable: { kind: 'garbage' },
};

export const NODE_LAW_FAULTS = Object.keys(FAILURES) as FaultKind[];

const isChange = ({ action }: GcpCall): boolean =>
  /[.](\w+Instances|insert|create|delete|cancel)$/.test(action) && !/[.]list/.test(action);

/** A group that others have made, of GPU machines. */
export function addNodeGroup({ compute }: Pick<ComputeScene, 'compute'>, place: string, name: string): FakeGroup {
  const group: FakeGroup = {
    ...{ id: compute.nextId(), project: PROJECT, place, name, template: GPU_TEMPLATE },
    ...{ autoscaler: undefined, isHealing: true, isRedistributed: false, isPaginated: true },
    ...{ managed: [], requests: [] },
  };
  compute.groups.set(`${PROJECT}/${place}/${name}`, group);
  return group;
}

export interface NodeLawOptions {
  readonly place: string;
  readonly elsewhere: string;
  open(scene: ComputeScene): Promise<NodeGroups>;
  /** A group of others, as `addNodeGroup` makes it. */
  add?(scene: ComputeScene, place: string, name: string): FakeGroup;
  autoscale?(scene: ComputeScene, name: string): void;
  /** The groups of that name. */
  named?(scene: ComputeScene, name: string): readonly FakeGroup[];
}

const groupsNamed = ({ compute }: ComputeScene, name: string): readonly FakeGroup[] =>
  [...compute.groups.values()].filter((group) => group.name === name);

export const nodeLawWorld = (options: NodeLawOptions) => async (): Promise<NodeGroupsWorld> => {
  const { place, elsewhere, open, add = addNodeGroup, named = groupsNamed } = options;
  const scene = openComputeScene({ pageSize: 2, lagMs: 3_000 });
  const { clock, compute, fake } = scene;
  const { failureRules } = fake;
  const livingIn = (group: FakeGroup): readonly string[] =>
    group.managed
      .filter((one) => isThere(one, clock.now()) && one.goneAtMs === undefined)
      .filter(({ incarnations }) => incarnations.some((instance) => isLiving(instance, clock.now())))
      .map(({ name }) => name);
  return {
    open: () => open(scene),
    settle: () => clock.advance(10_000),
    during: scene.during,
    async addGroup(name, size, { elsewhere: isElsewhere = false } = {}) {
      const group = add(scene, isElsewhere ? elsewhere : place, name);
      const others = compute.instances.length;
      createManaged(
        compute,
        group,
        Array.from({ length: size }, (_, at) => ({ name: `${name}-old${others + at}` })),
      );
      await clock.advance(10_000);
    },
    existing: (name) => named(scene, name).flatMap(livingIn),
    sizeOf: (name) => named(scene, name).reduce((sum, group) => sum + targetSizeOf(group, clock.now()), 0),
    stock(left) {
      for (const zone of STOCKED) compute.stock.set(`${MACHINE_TYPE} ${zone}`, 0);
      compute.stock.set(`${MACHINE_TYPE} us-central1-a`, left);
    },
    holdQueue() {
      compute.isQueueHeld = true;
    },
    grant: () => grantWaiting(compute),
    loseNextReply: () => void failureRules.add({ when: isChange, what: { kind: 'lost reply' } }),
    autoscale(name) {
      if (options.autoscale) return options.autoscale(scene, name);
      for (const group of named(scene, name)) group.autoscaler = 'theirs';
    },
    fail(kind) {
      failureRules.clear();
      failureRules.add({ service: 'compute', what: FAILURES[kind] as CallFailure, times: ALWAYS });
    },
    hang: () => void failureRules.add({ what: { kind: 'hang' }, times: ALWAYS }),
    async close() {},
  };
};
