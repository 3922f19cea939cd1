// The instances of a group as nodes-to-be, and the requests of its queue.
import type { NodeInstance, NodeRequest } from '#core/node-group.ts';
import type { Trouble } from '#core/provider.ts';
import { type Instance, lastPart, type ManagedInstance, type ResizeRequest } from '../compute/api.ts';
import { faultOfErrors } from '../compute/faults.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { findInstance } from '../instance/listing.ts';
import type { Group } from '../instance-group/group.ts';
import { COMING, ENDING, troubleOf } from '../instance-group/machine.ts';

const RUNNING = new Set(['RUNNING', 'REPAIRING']);
const STARTING = new Set(['', 'PENDING', 'PROVISIONING', 'STAGING']);

function stateOf({ currentAction = 'NONE', instanceStatus = '' }: ManagedInstance): NodeInstance['state'] {
  if (ENDING.has(currentAction)) return 'deleting';
  // What is recreated is another machine from now on, however the old one looks.
  if (COMING.has(currentAction) || STARTING.has(instanceStatus)) return 'creating';
  return RUNNING.has(instanceStatus) ? 'running' : 'failed';
}

function stoppedTrouble({ instanceStatus = '' }: ManagedInstance): Trouble {
  return {
    kind: 'unavailable',
    reason: instanceStatus,
    message: `Compute Engine shows the instance as ${instanceStatus}.`,
    final: false,
  };
}

export const zoneOf = ({ place }: Group, { instance = '' }: ManagedInstance): string =>
  /zones\/([^/]+)\/instances\//.exec(instance)?.[1] ?? lastPart(place);

/** `zones/us-central1-a/instances/n-1`. */
export const targetOf = (group: Group, managed: ManagedInstance): string =>
  `zones/${zoneOf(group, managed)}/instances/${instanceNameOf(managed)}`;

/** What has no id yet is known by its name: names of a group are its own, and never used again by us. */
export const idOf = (managed: ManagedInstance): string => managed.id ?? instanceNameOf(managed);

/** When each instance was made. A listing of a group does not say; it never changes. */
export type Births = Map<string, number>;

const SINGLY = 10;

async function readBirths(group: Group, unknown: readonly ManagedInstance[], signal: AbortSignal) {
  const { compute } = group;
  if (unknown.length <= SINGLY) {
    const found = unknown.map((one) =>
      findInstance(compute, { zone: zoneOf(group, one), name: instanceNameOf(one) }, signal),
    );
    return (await Promise.all(found)).flatMap((one) => one ?? []);
  }
  const zones = [...new Set(unknown.map((one) => zoneOf(group, one)))];
  const query = { maxResults: 500, fields: 'nextPageToken,items(id,creationTimestamp)' };
  const items = ({ items: some = [] }: { readonly items?: readonly Instance[] }) => some;
  const listed = zones.map((zone) => compute.all({ path: `/zones/${zone}/instances`, query, items }, signal));
  return (await Promise.all(listed)).flat();
}

/** Learns of those that are new; what does not exist yet, or is not listed yet, counts as made when it was first seen. */
export async function learnBirths(
  group: Group,
  managed: readonly ManagedInstance[],
  births: Births,
  signal: AbortSignal,
): Promise<void> {
  const unknown = managed.filter(({ id }) => id !== undefined && !births.has(id));
  const found = unknown.length === 0 ? [] : await readBirths(group, unknown, signal);
  for (const { id, creationTimestamp } of found) births.set(id, Date.parse(creationTimestamp));
  const nowMs = group.compute.clock.now();
  const here = new Set(managed.map(idOf));
  for (const id of births.keys()) if (!here.has(id)) births.delete(id);
  for (const id of here) if (!births.has(id)) births.set(id, nowMs);
}

export function nodeInstanceOf(group: Group, managed: ManagedInstance, births: Births): NodeInstance {
  const { compute } = group;
  const name = instanceNameOf(managed);
  const id = idOf(managed);
  const state = stateOf(managed);
  const trouble = state === 'failed' ? stoppedTrouble(managed) : troubleOf(managed, name);
  const endsAt = Date.parse(managed.scheduling?.terminationTimestamp ?? '');
  return {
    id,
    name,
    providerId: `gce://${compute.project}/${zoneOf(group, managed)}/${name}`,
    state,
    ...(trouble && { trouble }),
    createdAt: births.get(id) ?? compute.clock.now(),
    ...(!Number.isNaN(endsAt) && { endsAt }),
  };
}

export const isWaiting = ({ state }: ResizeRequest): boolean => state === 'CREATING' || state === 'ACCEPTED';

export const namesOf = ({ instances = [] }: ResizeRequest): readonly string[] => instances.map(({ name }) => name);

function requestTrouble({ name, status = {} }: ResizeRequest, isFailed: boolean): Trouble | undefined {
  // Errors of an attempt pass: Google tries again, and seldom.
  const errors = (isFailed ? status.error : status.lastAttempt?.error)?.errors ?? [];
  if (errors.length === 0) return undefined;
  const { kind, message, remedy } = faultOfErrors(`The resize request ${name}`, errors);
  return { kind, reason: errors[0]?.code, message: `${message.replace(/[.]?$/, '.')} ${remedy}`, final: isFailed };
}

/** A request without what has come of it; nothing where all has come, or where it is over. */
export function nodeRequestOf(
  request: ResizeRequest,
  come: ReadonlySet<string>,
  nowMs: number,
): readonly NodeRequest[] {
  const isFailed = request.state === 'FAILED';
  if (!isFailed && !isWaiting(request)) return [];
  const names = namesOf(request).filter((name) => !come.has(name));
  const asked = request.instances ? names.length : (request.resizeBy ?? 0);
  // Google takes a request that failed out of the size by itself.
  const count = isFailed ? 0 : asked;
  if (count === 0 && !isFailed) return [];
  const trouble = requestTrouble(request, isFailed);
  return [
    {
      id: request.name,
      count,
      ...(request.instances && { names }),
      state: isFailed ? 'failed' : 'waiting',
      ...(trouble && { trouble }),
      // Without a time it must not look as if it had waited for ever.
      createdAt: Date.parse(request.creationTimestamp ?? '') || nowMs,
    },
  ];
}
