// How tests get at the fake Crusoe, and the world in which the laws of node groups are tried on it.
import type { FaultKind } from '#core/fault.ts';
import type { NodeGroups } from '#core/node-group.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { NodeGroupsWorld } from '../../../conformance/node-groups-world.ts';
import { openSceneOf, type Scene } from '../../../conformance/scene.ts';
import { CrusoeConfig } from '../config.ts';
import { openCrusoeNodes } from '../nodes/pools.ts';
import {
  ACCESS_KEY,
  CLUSTER,
  type CloudBehaviour,
  type FakeCrusoe,
  GPU_TYPE,
  OTHER_CLUSTER,
  openFakeCrusoe,
  PROJECT,
  SECRET_KEY,
} from './cloud.ts';
import { type FakePool, isLiving } from './pool.ts';
import type { CrusoeCall } from './read-call.ts';

export const ACCOUNT = { projectId: PROJECT, accessKey: ACCESS_KEY, secretKey: SECRET_KEY };
export const TEMPLATES = { h100: { clusterId: CLUSTER, type: GPU_TYPE } };
const ALWAYS = 1_000_000;

const refused = (message: string, status: number): CallFailure => ({
  kind: 'error',
  code: String(status),
  message,
  status,
});

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  throttled: { kind: 'throttle' },
  denied: refused('unauthorized', 403),
  unauthenticated: refused('bad_credential', 401),
  unavailable: { kind: 'garbage' },
};

export const LAW_FAULTS = Object.keys(FAILURES) as FaultKind[];

export interface CrusoeScene extends Scene<FakeCrusoe> {
  open(config?: object): Promise<NodeGroups>;
}

export function openCrusoeScene(behaviour: Partial<CloudBehaviour> = {}): CrusoeScene {
  const scene = openSceneOf(openFakeCrusoe);
  Object.assign(scene.fake.state.behaviour, behaviour);
  return {
    ...scene,
    open: (config = {}) => openCrusoeNodes(CrusoeConfig.parse({ ...ACCOUNT, ...config }), scene.contextFor()),
  };
}

const isChange = ({ method }: CrusoeCall): boolean => method !== 'GET';

export async function openLawWorld(): Promise<NodeGroupsWorld> {
  const scene = openCrusoeScene({ pageSize: 2, lagMs: 2_000 });
  const { clock, fake, during } = scene;
  const { state, failureRules } = fake;
  const named = (name: string): readonly FakePool[] =>
    state.pools.filter((pool) => pool.name === name && pool.state === 'STATE_RUNNING');
  return {
    open: () => scene.open({ poolTemplates: TEMPLATES }),
    settle: () => clock.advance(10_000),
    during,
    async addGroup(name, size, { elsewhere = false } = {}) {
      fake.addPool(name, size, elsewhere ? OTHER_CLUSTER : CLUSTER);
      await clock.advance(10_000);
    },
    existing: (name) =>
      named(name).flatMap((pool) => pool.vms.filter((vm) => isLiving(vm, clock.now())).map((vm) => vm.name)),
    sizeOf: (name) => named(name).reduce((sum, { count }) => sum + count, 0),
    stock(left) {
      state.stock = left;
    },
    holdQueue() {},
    grant() {},
    loseNextReply: () => void failureRules.add({ when: isChange, what: { kind: 'lost reply' } }),
    autoscale(name) {
      for (const pool of named(name)) pool.later = { autoscaling_config: { enabled: true } };
    },
    fail(kind) {
      failureRules.clear();
      failureRules.add({ what: FAILURES[kind] as CallFailure, times: ALWAYS });
    },
    hang: () => void failureRules.add({ what: { kind: 'hang' }, times: ALWAYS }),
    async close() {},
  };
}
