import type { FaultKind } from '#core/fault.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import type { ManagedInstance } from '../compute/api.ts';
import { faultOfErrors } from '../compute/faults.ts';
import type { MarkedManaged } from './group.ts';

const STATES: Readonly<Record<string, Machine['state']>> = {
  RUNNING: 'running',
  REPAIRING: 'running',
  PENDING_STOP: 'suspending',
  STOPPING: 'suspending',
  SUSPENDING: 'suspending',
  DEPROVISIONING: 'suspending',
  STOPPED: 'suspended',
  TERMINATED: 'suspended',
  SUSPENDED: 'suspended',
};

export const ENDING = new Set(['DELETING', 'ABANDONING']);
export const COMING = new Set(['CREATING', 'CREATING_WITHOUT_RETRIES', 'RECREATING']);

function stateOf({ currentAction = 'NONE', instanceStatus = '' }: ManagedInstance): Machine['state'] {
  if (ENDING.has(currentAction)) return 'deleting';
  // What is recreated is another machine from now on, however the old one looks.
  if (COMING.has(currentAction)) return 'creating';
  return STATES[instanceStatus] ?? 'creating';
}

// Waiting may help: the group tries again by itself.
const PASSING: ReadonlySet<FaultKind> = new Set(['unavailable', 'throttled', 'conflict']);

/** The group tries for ever. What waiting does not cure counts as refused all the same: another offer may have room. */
export function troubleOf({ currentAction = 'NONE', lastAttempt }: ManagedInstance, name: string): Trouble | undefined {
  const errors = lastAttempt?.errors?.errors ?? [];
  if (errors.length === 0 || !COMING.has(currentAction)) return undefined;
  const { kind, message, remedy } = faultOfErrors(`the creation of ${name}`, errors);
  return { kind, message: `${message.replace(/[.]?$/, '.')} ${remedy}`, final: !PASSING.has(kind) };
}

/** Whether its place on a host is certain: before that the group may still find out that there is none. */
export function isPlaced({ instanceStatus = '', currentAction = 'NONE' }: ManagedInstance): boolean {
  return instanceStatus === 'STAGING' || instanceStatus === 'RUNNING' || currentAction === 'NONE';
}

/** An instance of the group as the rest of the program sees it. */
export function machineOf({ name, mark, createdAt, managed }: MarkedManaged): Machine {
  const trouble = troubleOf(managed, name);
  return { name, mark, id: managed.id, createdAt, state: stateOf(managed), ...(trouble && { trouble }) };
}
