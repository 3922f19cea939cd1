// A fake Crusoe: one project with clusters, their node pools and VMs.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { fieldPath, openRequestCheck } from '#fakes/check-request.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { ACTIONS } from './actions.ts';
import { authorize } from './authorize.ts';
import { definition } from './definition.gen.ts';
import { type FakeOperation, type FakePool, fill } from './pool.ts';
import { type CrusoeCall, readCall } from './read-call.ts';

export const PROJECT = '09ae8411-0fbb-411c-898c-2b8f19622ae1';
export const CLUSTER = 'cluster-1';
export const OTHER_CLUSTER = 'cluster-2';
export const GPU_TYPE = 'h100-80gb-sxm-ib.8x';
export const ACCESS_KEY = 'an-access-key';
export const SECRET_KEY = 'c2VjcmV0LW9mLWNydXNvZQ';

export interface CloudBehaviour {
  pageSize: number;
  /** How late listings of VMs show what was made. */
  lagMs: number;
  bootMs: number;
  endMs: number;
  operationMs: number;
}

/** All that this Crusoe has; tests change it as they go. */
export interface CloudState {
  readonly clock: Clock;
  readonly projectId: string;
  readonly behaviour: CloudBehaviour;
  limits: Limits<CrusoeCall>;
  readonly keys: Map<string, string>;
  readonly pools: FakePool[];
  readonly operations: FakeOperation[];
  /** How many more VMs there are. */
  stock: number;
  nextId(what: string): string;
}

interface CrusoeRecord extends RecordedCall {
  readonly body: CrusoeCall['body'];
}

export interface FakeCrusoe extends Answering<CrusoeCall, CrusoeRecord> {
  readonly state: CloudState;
  /** A pool that others have made, with that many nodes. */
  addPool(name: string, count: number, clusterId?: string): FakePool;
}

const check = openRequestCheck(definition);
// What later versions of the API have beside what the definition says.
const LATER = new Set(['autoscaling_config', 'health']);

const nameOf = ({ action }: CrusoeCall): string => action.replace('crusoe.', '');

/** Crusoe refuses what is missing or of the wrong type, and fields that it does not know. */
function checkCall(call: CrusoeCall): void {
  const [flaw] = check(nameOf(call), { query: call.query, body: call.body });
  if (!flaw) return;
  throw refusal('400', `bad_request: ${flaw.kind} ${fieldPath(flaw.path)}`, 400);
}

/** A fake that answers what its cloud cannot answer proves nothing. */
function checkAnswer(call: CrusoeCall, body: unknown): void {
  const flaws = check(`${nameOf(call)} answer`, { query: {}, body }).filter(
    ({ path }) => !LATER.has(String(path.at(-1))),
  );
  const [flaw] = flaws;
  if (flaw)
    throw new Fault('internal', `The fake Crusoe answers ${call.action} with ${flaw.kind} ${fieldPath(flaw.path)}.`);
}

export function openFakeCrusoe(clock: Clock): FakeCrusoe {
  let serial = 0;
  const state: CloudState = {
    clock,
    projectId: PROJECT,
    behaviour: { pageSize: 50, lagMs: 0, bootMs: 2_000, endMs: 1_000, operationMs: 1_500 },
    limits: noLimits,
    keys: new Map([[ACCESS_KEY, SECRET_KEY]]),
    pools: [],
    operations: [],
    stock: Number.POSITIVE_INFINITY,
    nextId(what) {
      serial += 1;
      return `${what}-${String(serial).padStart(6, '0')}`;
    },
  };
  const tooMuch = (): Error => refusal('429', 'too_many_requests', 429);
  const take = openBuckets<CrusoeCall>({ limits: () => state.limits, tooMuch });
  const answering = openAnswering<CrusoeCall, CrusoeRecord>(
    {
      read: readCall,
      record: ({ service, action, region, body }, atMs) => ({ service, action, region, body, atMs, outcome: 'open' }),
      answer(call) {
        const nowMs = clock.now();
        take(call, nowMs);
        authorize(call, state.keys, nowMs);
        const act = ACTIONS[nameOf(call)];
        if (!act) throw refusal('404', 'not_found', 404);
        if (!call.path.startsWith(`/v1/projects/${PROJECT}/`)) throw refusal('403', 'unauthorized', 403);
        checkCall(call);
        const body = act(call, state);
        checkAnswer(call, body);
        return Response.json(body);
      },
      refuse: (_call, { code, message, status }: Refusal) => Response.json({ code, message }, { status }),
      tooMuch,
    },
    clock,
  );
  return {
    ...answering,
    state,
    addPool(name, count, clusterId = CLUSTER) {
      const nowMs = clock.now();
      const pool: FakePool = {
        ...{ id: state.nextId('pool'), name, clusterId, type: GPU_TYPE, count, state: 'STATE_RUNNING', vms: [] },
        ...{ madeAtMs: nowMs, updatedAtMs: nowMs },
        settings: {
          node_labels: { team: 'ml' },
          node_taints: [{ key: 'dedicated', value: 'ml', effect: 'NoSchedule' }],
          reservation_id: 'reservation-1',
          ephemeral_storage_for_containerd: true,
        },
      };
      state.pools.push(pool);
      fill(state, pool);
      return pool;
    },
  };
}
