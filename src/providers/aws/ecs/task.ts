import type { Task } from '@aws-sdk/client-ecs';
import type { Machine, MachineEndpoint } from '#core/provider.ts';
import { markOf, NAME, portIn } from '../marks.ts';
import { endOf } from './faults.ts';

export const tagsOf = ({ tags = [] }: Task): ReadonlyMap<string, string> =>
  new Map(tags.map(({ key = '', value = '' }) => [key, value]));

const STARTING = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING']);

/** It is to stop, or has stopped. */
export const isEnding = ({ desiredStatus, lastStatus }: Task): boolean =>
  desiredStatus === 'STOPPED' || lastStatus === 'STOPPED';

/** Somebody stopped it, and it is no failure. */
export const wasStopped = ({ stopCode }: Task): boolean => stopCode === 'UserInitiated';

function detailOf({ attachments = [] }: Task, wanted: string): string | undefined {
  const details = attachments.flatMap((one) => (one.type === 'ElasticNetworkInterface' ? (one.details ?? []) : []));
  return details.find(({ name }) => name === wanted)?.value;
}

export const interfaceOf = (task: Task): string | undefined => detailOf(task, 'networkInterfaceId');

/** From anywhere first, then from its own network. A security group must let the callers in. */
function endpointsOf(task: Task, port: number, publicIp: string | undefined): MachineEndpoint[] {
  if (task.lastStatus !== 'RUNNING') return [];
  return [publicIp, detailOf(task, 'privateIPv4Address')].flatMap((host) => (host ? [{ host, port }] : []));
}

/** What is kept of a task from one listing to the next: ECS takes its tags away when it stops it. */
export interface KnownTask {
  readonly machine: Machine;
  readonly port: number | undefined;
  /** Its end is wanted. */
  readonly isDismissed?: boolean;
}

/** Who a task is; nothing where it bears no whole mark, and is not known. */
export function identityOf(task: Task, known?: KnownTask): KnownTask | undefined {
  const tags = tagsOf(task);
  const [mark, name] = [markOf(tags), tags.get(NAME)];
  if (!mark || !name) return known;
  const machine = {
    name,
    mark,
    id: task.taskArn,
    createdAt: task.createdAt?.getTime() ?? 0,
    state: 'creating',
  } as const;
  return { ...known, machine, port: portIn(tags) };
}

/** A task as the rest of the program sees it; nothing where it is gone. `check` reports one that failed before it ran. */
export function machineOf(
  task: Task,
  { machine, port, isDismissed = false }: KnownTask,
  publicIp: string | undefined,
): Machine | undefined {
  const { lastStatus = '' } = task;
  if (lastStatus === 'STOPPED') {
    if (isDismissed || wasStopped(task) || task.stopCode === 'TaskFailedToStart') return undefined;
    const { kind, message } = endOf(task);
    return { ...machine, state: 'failed', trouble: { kind, message, final: true } };
  }
  if (isEnding(task)) return { ...machine, state: 'deleting' };
  if (STARTING.has(lastStatus)) return { ...machine, state: 'creating' };
  const endpoints = port === undefined ? [] : endpointsOf(task, port, publicIp);
  return { ...machine, state: 'running', ...(endpoints.length > 0 && { endpoints }) };
}
