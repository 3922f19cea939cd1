import type { Instance } from '@aws-sdk/client-ec2';
import type { FaultKind } from '#core/fault.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import { markOf, nameOf, tagsOf } from './marks.ts';

const STATES: Readonly<Record<string, Machine['state'] | 'gone'>> = {
  pending: 'creating',
  running: 'running',
  stopping: 'suspending',
  stopped: 'suspended',
  'shutting-down': 'deleting',
  terminated: 'gone',
};

interface Reason {
  readonly kind: FaultKind;
  /** It never ran: the launch must learn why, also when it is already gone. */
  readonly isStillborn: boolean;
}

const stillborn = (kind: FaultKind): Reason => ({ kind, isStillborn: true });
const taken = (kind: FaultKind): Reason => ({ kind, isStillborn: false });

// EC2 says yes first, and finds out afterwards; the codes stand under `StateReason` in its API reference.
const REASONS: Readonly<Record<string, Reason>> = {
  'Server.InsufficientInstanceCapacity': stillborn('exhausted'),
  'Server.InternalError': stillborn('unavailable'),
  'Client.VolumeLimitExceeded': stillborn('quota'),
  'Client.InstanceLimitExceeded': stillborn('quota'),
  'Client.InvalidSnapshot.NotFound': stillborn('missing'),
  // Mostly a volume whose key the account may not use.
  'Client.InternalError': stillborn('invalid'),
  'Server.SpotInstanceTermination': taken('exhausted'),
  'Server.SpotInstanceShutdown': taken('exhausted'),
};

const ENDING = new Set(['shutting-down', 'terminated', 'stopping', 'stopped']);

function reasonOf({ State, StateReason }: Instance): Reason | undefined {
  return ENDING.has(State?.Name ?? '') ? REASONS[StateReason?.Code ?? ''] : undefined;
}

function troubleOf(instance: Instance): Trouble | undefined {
  const reason = reasonOf(instance);
  if (!reason) return undefined;
  const { Code = '', Message = '' } = instance.StateReason ?? {};
  const message = Message.startsWith(Code) ? Message : `${Code}: ${Message}`;
  return { kind: reason.kind, message, final: true };
}

/** When it was made: `LaunchTime` is when it last started, the first interface was there from the beginning. */
function madeAt({ LaunchTime, NetworkInterfaces = [] }: Instance): number {
  const times = [LaunchTime, ...NetworkInterfaces.map(({ Attachment }) => Attachment?.AttachTime)];
  return Math.min(...times.flatMap((time) => (time ? [time.getTime()] : [])), Number.MAX_SAFE_INTEGER);
}

// EC2 lists terminated instances for an hour; their launches are settled long before.
export const SHOW_STILLBORN_MS = 600_000;

/** An instance as the rest of the program sees it; nothing where it bears no whole mark, or is gone. */
export function machineOf(instance: Instance, nowMs: number): Machine | undefined {
  const tags = tagsOf(instance);
  const [mark, name] = [markOf(tags), nameOf(instance, tags)];
  const state = STATES[instance.State?.Name ?? ''] ?? 'creating';
  if (!mark || !name) return undefined;
  const createdAt = madeAt(instance);
  if (state === 'gone' && !(reasonOf(instance)?.isStillborn && nowMs - createdAt < SHOW_STILLBORN_MS)) return undefined;
  const trouble = troubleOf(instance);
  return {
    name,
    mark,
    id: instance.InstanceId,
    createdAt,
    state: state === 'gone' ? 'deleting' : state,
    ...(trouble ? { trouble } : {}),
  };
}
