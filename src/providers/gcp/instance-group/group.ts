// One managed instance group as this process sees it.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { ManagedInstance } from '../compute/api.ts';
import { accountOf, type Compute, computeAt } from '../compute/client.ts';
import { MARK_KEY, type MarkedInstance, readManaged } from '../compute/marks.ts';
import { advised } from '../compute/places.ts';
import { type GroupConfig, placeOfGroup } from './config.ts';
import type { Facts } from './facts.ts';

export interface MarkedManaged extends MarkedInstance {
  readonly managed: ManagedInstance;
}

/** A complete listing: all instances with a whole mark, of whatever cluster, by the name of the worker. */
export interface Snapshot {
  readonly startedMs: number;
  readonly marked: ReadonlyMap<string, MarkedManaged>;
}

export interface Group {
  readonly compute: Compute;
  readonly clock: Clock;
  readonly cluster: string;
  /** What shares its listing. */
  readonly cloud: string;
  readonly name: string;
  /** `zones/us-central1-a` or `regions/us-central1`. */
  readonly place: string;
  /** Below the project. */
  readonly path: string;
  last: Snapshot | undefined;
  looking: { readonly startedMs: number; readonly done: Promise<Snapshot> } | undefined;
  /** Whether listings ask for the mark alone, and not for all metadata of each instance. */
  isMasked: boolean;
  facts: { readonly atMs: number; readonly known: Facts } | undefined;
  /** By name: when the group agreed to make it, until a listing shows it. */
  readonly promised: Map<string, number>;
}

/** The same for all that one server opens on one group. */
export function groupAt(config: GroupConfig, context: Context): Group {
  const compute = computeAt(config.project, config.endpoint, context);
  const place = placeOfGroup(config);
  const cloud = `${accountOf(compute)}:${place.replace('/', ':')}:${config.instanceGroup}`;
  return context.shared<Group>(`group ${cloud}`, () => ({
    compute,
    clock: context.clock,
    cluster: context.cluster,
    cloud,
    name: config.instanceGroup,
    place,
    path: `/${place}/instanceGroupManagers/${config.instanceGroup}`,
    last: undefined,
    looking: undefined,
    isMasked: true,
    facts: undefined,
    promised: new Map(),
  }));
}

/** A refusal of the group, with the nearest zone, region or group where there is none of that name. */
export function advisedOn({ compute, place, name }: Group, fault: Fault, signal: AbortSignal): Promise<Fault> {
  const [places = '', written = ''] = place.split('/');
  const names = [
    { key: places.slice(0, -1), written, path: `/${places}` },
    { key: 'instance_group', written: name, path: `/${place}/instanceGroupManagers` },
  ];
  return advised(compute, fault, names, signal);
}

// The most that a page may hold.
const PAGE = 500;
const SHOWN = 'instance,name,id,instanceStatus,currentAction,lastAttempt/errors';
// Metadata holds the script that brings the agent: thousands of bytes for each instance.
const MASK = `nextPageToken,managedInstances(${SHOWN},preservedStateFromConfig/metadata/${MARK_KEY})`;

interface Page {
  readonly managedInstances?: readonly ManagedInstance[];
}

async function read({ compute, path, isMasked }: Group, signal: AbortSignal): Promise<ManagedInstance[]> {
  const query = { maxResults: PAGE, ...(isMasked && { fields: MASK }) };
  const items = (page: unknown) => (page as Page).managedInstances ?? [];
  const request = { method: 'POST', path: `${path}/listManagedInstances`, query, isReading: true, items } as const;
  return compute.all<ManagedInstance>(request, signal);
}

async function lookNow(group: Group, startedMs: number, signal: AbortSignal): Promise<Snapshot> {
  const instances = await read(group, signal).catch(async (thrown) => {
    const fault = Fault.from(thrown);
    if (!group.isMasked || fault.kind !== 'invalid') throw fault;
    // No account has shown that such a mask is taken: without it the answers are longer.
    group.isMasked = false;
    return read(group, signal);
  });
  const marked = new Map<string, MarkedManaged>();
  for (const managed of instances) {
    const found = readManaged(managed);
    if (found) marked.set(found.name, { ...found, managed });
  }
  const snapshot = { startedMs, marked };
  for (const [name, atMs] of group.promised)
    if (marked.has(name) || startedMs - atMs > HOUR_MS) group.promised.delete(name);
  if ((group.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) group.last = snapshot;
  return snapshot;
}

/** A listing that began at that time or later; askers of the same time share it. */
export async function lookSince(group: Group, sinceMs: number, signal: AbortSignal): Promise<Snapshot> {
  if (signal.aborted) throw new Fault('unavailable', `The listing of ${group.name} was cancelled.`);
  if (group.last && group.last.startedMs >= sinceMs) return group.last;
  if (group.looking && group.looking.startedMs >= sinceMs) return group.looking.done;
  const startedMs = group.clock.monotonic();
  const done = lookNow(group, startedMs, signal).finally(() => {
    if (group.looking?.done === done) group.looking = undefined;
  });
  group.looking = { startedMs, done };
  return done;
}
