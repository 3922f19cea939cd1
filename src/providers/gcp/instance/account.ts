// The instances of one project as this process sees them.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { Instance } from '../compute/api.ts';
import { accountOf, type Compute, computeAt } from '../compute/client.ts';
import { CLUSTER_LABEL, readLabels } from '../compute/marks.ts';
import type { InstanceConfig } from './config.ts';
import { openImages } from './image.ts';

/** A complete listing of the instances with the mark of our cluster. */
export interface Snapshot {
  readonly startedMs: number;
  readonly byName: ReadonlyMap<string, Instance>;
}

export interface Account {
  readonly compute: Compute;
  readonly clock: Clock;
  readonly cluster: string;
  readonly cloud: string;
  readonly image: ReturnType<typeof openImages>;
  last: Snapshot | undefined;
  /** By name: the zone in which it was asked for, and when, until a listing shows it. */
  readonly promised: Map<string, { readonly zone: string; readonly atMs: number }>;
}

/** The same for all that one server opens on one project. */
export function accountAt({ project, endpoint }: InstanceConfig, context: Context): Account {
  const compute = computeAt(project, endpoint, context);
  const cloud = `${accountOf(compute)}:instances`;
  return context.shared<Account>(`account ${cloud}`, () => ({
    compute,
    clock: context.clock,
    cluster: context.cluster,
    cloud,
    image: openImages(compute),
    last: undefined,
    promised: new Map(),
  }));
}

interface Scope {
  readonly instances?: readonly Instance[];
  readonly warning?: { readonly code?: string };
}

interface Page {
  readonly items?: Readonly<Record<string, Scope>>;
  readonly unreachables?: readonly string[];
}

const ADDRESSES = 'networkInterfaces(networkIP,accessConfigs/natIP)';
const SHOWN = `id,name,status,zone,creationTimestamp,labels,${ADDRESSES}`;
const MASK = `nextPageToken,unreachables,items/*/warning/code,items/*/instances(${SHOWN})`;
const PAGE = 500;

/** A zone that does not answer is missing from the page, with a warning: then nothing is known of its machines. */
function instancesIn(page: unknown): Instance[] {
  const { items = {}, unreachables = [] } = page as Page;
  const silent = Object.entries(items).filter(([, { warning }]) => warning?.code === 'UNREACHABLE');
  const [missing] = [...unreachables, ...silent.map(([scope]) => scope)];
  if (missing !== undefined) throw new Fault('unavailable', `Compute Engine did not list the instances of ${missing}.`);
  return Object.values(items).flatMap(({ instances = [] }) => instances);
}

/** All instances of our cluster, of every zone. */
export async function look(account: Account, signal: AbortSignal): Promise<Snapshot> {
  const { compute, clock, cluster, promised } = account;
  if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  const startedMs = clock.monotonic();
  const query = { filter: `labels.${CLUSTER_LABEL}=${cluster}`, maxResults: PAGE, fields: MASK };
  const found = await compute.all<Instance>({ path: '/aggregated/instances', query, items: instancesIn }, signal);
  const ours = found.filter(({ labels }) => readLabels(labels)?.cluster === cluster);
  const snapshot = { startedMs, byName: new Map(ours.map((instance) => [instance.name, instance])) };
  for (const [name, { atMs }] of promised)
    if (snapshot.byName.has(name) || startedMs - atMs > HOUR_MS) promised.delete(name);
  if ((account.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) account.last = snapshot;
  return snapshot;
}

/** One instance by its name, without the lag of listings; nothing where there is none. */
export async function findInstance(
  { compute }: Account,
  { zone, name }: { readonly zone: string; readonly name: string },
  signal: AbortSignal,
): Promise<Instance | undefined> {
  try {
    return await compute.ask<Instance>({ path: `/zones/${zone}/instances/${name}` }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}
