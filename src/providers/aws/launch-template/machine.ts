import type { Instance } from '@aws-sdk/client-ec2';
import type { FaultKind } from '#core/fault.ts';
import type { Machine, MachineEndpoint, Trouble } from '#core/provider.ts';
import { markOf, portIn } from '../marks.ts';
import { nameOf, tagsOf } from './marks.ts';

/** A terminated instance is no machine any more; EC2 lists it for another hour. */
const STATES: Readonly<Record<string, Machine['state'] | 'gone'>> = {
  pending: 'creating',
  running: 'running',
  stopping: 'suspending',
  stopped: 'suspended',
  'shutting-down': 'deleting',
  terminated: 'gone',
};

// Why EC2 ended an instance by itself; the codes stand under `StateReason` in its API reference.
const REASONS: Readonly<Record<string, FaultKind>> = {
  'Server.InsufficientInstanceCapacity': 'exhausted',
  'Server.InternalError': 'unavailable',
  'Client.VolumeLimitExceeded': 'quota',
  'Client.InstanceLimitExceeded': 'quota',
  'Client.InvalidSnapshot.NotFound': 'missing',
  // Mostly a volume whose key the account may not use.
  'Client.InternalError': 'invalid',
  'Server.SpotInstanceTermination': 'exhausted',
  'Server.SpotInstanceShutdown': 'exhausted',
};

const ENDING = new Set(['shutting-down', 'terminated', 'stopping', 'stopped']);

/** Why EC2 ended an instance, where it did. */
export function troubleOf({ State, StateReason = {} }: Instance): Trouble | undefined {
  const { Code = '', Message = '' } = StateReason;
  const kind = ENDING.has(State?.Name ?? '') ? REASONS[Code] : undefined;
  if (!kind) return undefined;
  return { kind, message: Message.startsWith(Code) ? Message : `${Code}: ${Message}`, final: true };
}

/** When it was made: `LaunchTime` is when it last started, the first interface was there from the beginning. */
function madeAt({ LaunchTime, NetworkInterfaces = [] }: Instance): number {
  const times = [LaunchTime, ...NetworkInterfaces.map(({ Attachment }) => Attachment?.AttachTime)];
  return Math.min(...times.flatMap((time) => (time ? [time.getTime()] : [])), Number.MAX_SAFE_INTEGER);
}

/** Where its port is reached: from anywhere first, then from its own network. Without a security group that lets it in, only the agent's own connection leads there. */
function endpointsOf({ PublicIpAddress, PrivateIpAddress }: Instance, port: number | undefined): MachineEndpoint[] {
  if (port === undefined) return [];
  return [PublicIpAddress, PrivateIpAddress].flatMap((host) => (host ? [{ host, port }] : []));
}

/** An instance as the rest of the program sees it; nothing where it bears no whole mark, or is gone. */
export function machineOf(instance: Instance): Machine | undefined {
  const tags = tagsOf(instance);
  const [mark, name] = [markOf(tags), nameOf(instance, tags)];
  const state = STATES[instance.State?.Name ?? ''] ?? 'creating';
  if (!mark || !name || state === 'gone') return undefined;
  const endpoints = endpointsOf(instance, portIn(tags));
  return {
    name,
    mark,
    id: instance.InstanceId,
    createdAt: madeAt(instance),
    state,
    trouble: troubleOf(instance),
    ...(endpoints.length > 0 && { endpoints }),
  };
}
