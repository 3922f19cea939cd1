import type { Bootable } from '#fakes/boot/machine.ts';
import { nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';
import { MEMBER } from './seed-data.ts';

type State = 'Open' | 'Allocated' | 'running' | 'Preempting' | 'preempted' | 'Paused' | 'ending' | 'Terminated';

export interface LaunchSpecification {
  readonly volumes: readonly string[];
  readonly ssh_keys: readonly string[];
  readonly startup_script?: string | null;
  readonly kubernetes_cluster?: string | null;
  readonly image_version?: string | null;
  readonly memory_gb?: number | null;
}

/** A bid as Mithril keeps it, with its instance. */
export interface FakeBid {
  readonly fid: string;
  readonly project: string;
  readonly name: string;
  readonly region: string;
  readonly instanceType: string;
  readonly limitPrice: string;
  readonly launch: LaunchSpecification;
  readonly madeAtMs: number;
  timeline: readonly Step<State>[];
}

export const stateAt = ({ timeline }: FakeBid, nowMs: number): State => stepAt(timeline, nowMs)?.state ?? 'Open';

const STATUS: Readonly<Record<State, string>> = {
  Open: 'Open',
  Allocated: 'Allocated',
  running: 'Allocated',
  Preempting: 'Preempting',
  preempted: 'Open',
  Paused: 'Paused',
  ending: 'Terminated',
  Terminated: 'Terminated',
};

const INSTANCE: Readonly<Record<State, string | undefined>> = {
  Open: undefined,
  Allocated: 'STATUS_INITIALIZING',
  running: 'STATUS_RUNNING',
  Preempting: 'STATUS_PREEMPTING',
  preempted: 'STATUS_PREEMPTED',
  Paused: 'STATUS_PAUSED',
  ending: 'STATUS_STOPPING',
  Terminated: 'STATUS_TERMINATED',
};

export function shownBid(bid: FakeBid, nowMs: number): Readonly<Record<string, unknown>> {
  const { fid, name, project, region, instanceType, limitPrice, launch, madeAtMs } = bid;
  const state = stateAt(bid, nowMs);
  return {
    fid,
    name,
    project,
    region,
    instance_type: instanceType,
    limit_price: limitPrice,
    instance_quantity: 1,
    launch_specification: launch,
    created_by: MEMBER.fid,
    status: STATUS[state],
    instances: INSTANCE[state] === undefined ? [] : [`inst_${fid.slice(4)}`],
    created_at: new Date(madeAtMs).toISOString(),
    deactivated_at: STATUS[state] === 'Terminated' ? new Date(nowMs).toISOString() : null,
  };
}

/** When its present instance was made: a bid that was woken has another than before. */
function instanceMadeAt({ timeline }: FakeBid, nowMs: number): string {
  const step = timeline.findLast(({ atMs, state }) => atMs <= nowMs && state === 'Allocated');
  return new Date(step?.atMs ?? 0).toISOString();
}

export function shownInstance(bid: FakeBid, nowMs: number): Readonly<Record<string, unknown>> | undefined {
  const status = INSTANCE[stateAt(bid, nowMs)];
  if (status === undefined) return undefined;
  const number = Number(bid.fid.slice(4));
  const { fid, name, region, project, instanceType } = bid;
  return {
    fid: `inst_${fid.slice(4)}`,
    name: `${name}-1`,
    bid: fid,
    region,
    project,
    instance_type: instanceType,
    status,
    reservation: null,
    created_by: MEMBER.fid,
    created_at: instanceMadeAt(bid, nowMs),
    private_ip: `10.1.${(number >> 8) & 255}.${number & 255}`,
    ssh_destination: null,
  };
}

/** The instance of a bid as those see it who run machines. */
export function bootable(bid: FakeBid): Bootable {
  return {
    id: bid.fid,
    state(nowMs) {
      const state = stateAt(bid, nowMs);
      if (state === 'Terminated') return 'gone';
      return state === 'running' || state === 'Preempting' ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(bid.timeline, nowMs),
    scripts: () => [bid.launch.startup_script ?? ''],
    openMetadata: () => () => new Response('There is no metadata.', { status: 404 }),
    environment: () => ({}),
  };
}
