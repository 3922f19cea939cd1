// One account of DigitalOcean as this process sees it: what it lists, and what was asked of it and is not listed yet.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context, Machine, Mark, Outcome } from '#core/provider.ts';
import type { Droplet } from '../api.ts';
import type { DigitalOcean } from '../client.ts';
import { clusterTag, markOf } from './marks.ts';

/** A droplet that DigitalOcean agreed to make. */
export interface Promised {
  readonly id: number;
  /** By whose credential it was asked for. */
  readonly api: DigitalOcean;
  readonly mark: Mark;
  /** The action that makes it. */
  readonly action: number | undefined;
  readonly atMs: number;
  /** When the action was last looked at by itself. */
  checkedMs: number;
  /** The action is over, and the droplet was made. */
  isMade: boolean;
}

/** Ids that one deletion by tag is about; never rejects. */
export interface Batch {
  readonly ids: number[];
  readonly done: Promise<Fault | undefined>;
}

/** A complete listing. */
export interface Snapshot {
  readonly startedMs: number;
  readonly droplets: readonly Droplet[];
}

export interface Account {
  readonly clock: Clock;
  readonly log: Context['log'];
  readonly cluster: string;
  last: Snapshot | undefined;
  /** By name, until a listing shows it running. */
  readonly promised: Map<string, Promised>;
  /** By name: what was promised and never came, until it is deleted. */
  readonly failed: Map<string, Machine>;
  /** One of them is in no listing yet. */
  hasNewFailure: boolean;
  /** The last actions of the account may be looked at again. */
  nextLookMs: number;
  /** To be called when there is a promise to follow. */
  follower: (() => void) | undefined;
  /** By launch: when a creation ended without a clear answer. */
  readonly unclear: Map<string, number>;
  /** By launch: creations on their way. */
  readonly underWay: Map<string, Promise<readonly Outcome[]>>;
  /** By id: when its deletion by tag was asked for. */
  readonly deletedByTag: Map<number, number>;
  /** The ids that deletions by tag on their way are about. */
  readonly beingDeleted: Set<number>;
  /** The tag of what is to end was made in the life of this process. */
  hasEndingTag: boolean;
  /** The deletion by tag that has not begun, and the last one that has. */
  readonly batches: { next: Batch | undefined; last: Promise<unknown> };
}

/** The same for all that one server opens on one account. */
export function accountAt(cloud: string, context: Context): Account {
  return context.shared<Account>(`account ${cloud}`, () => ({
    clock: context.clock,
    log: context.log,
    cluster: context.cluster,
    last: undefined,
    promised: new Map(),
    failed: new Map(),
    hasNewFailure: false,
    nextLookMs: Number.NEGATIVE_INFINITY,
    follower: undefined,
    unclear: new Map(),
    underWay: new Map(),
    deletedByTag: new Map(),
    beingDeleted: new Set(),
    hasEndingTag: false,
    batches: { next: undefined, last: Promise.resolve() },
  }));
}

const keyOf = ({ id }: Droplet): number => id;

/** All droplets of that tag; DigitalOcean may answer that there is no such tag before the first is made. */
async function tagged(api: DigitalOcean, tag: string, signal: AbortSignal): Promise<readonly Droplet[]> {
  const listing = { path: '/droplets', items: 'droplets', query: { tag_name: tag }, keyOf };
  return api.all<Droplet>(listing, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return [];
    throw fault;
  });
}

/**
 * All droplets of our cluster. GPU droplets are listed apart, and that listing takes no tag beside `type`: so both are
 * read, and the tags are compared here.
 */
export async function look(account: Account, api: DigitalOcean, signal: AbortSignal): Promise<Snapshot> {
  const { clock, cluster } = account;
  if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  const startedMs = clock.monotonic();
  const gpus = { path: '/droplets', items: 'droplets', query: { type: 'gpus' }, keyOf };
  const [plain, withGpus] = await Promise.all([
    tagged(api, clusterTag(cluster), signal),
    api.all<Droplet>(gpus, signal),
  ]);
  const ours = new Map([...plain, ...withGpus].map((droplet) => [droplet.id, droplet]));
  const droplets = [...ours.values()].filter((droplet) => markOf(droplet)?.cluster === cluster);
  const snapshot = { startedMs, droplets };
  for (const [launch, endedMs] of account.unclear) if (startedMs - endedMs > HOUR_MS) account.unclear.delete(launch);
  if ((account.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) account.last = snapshot;
  return snapshot;
}

/** The droplets of that name, the oldest first. */
export const named = ({ droplets }: Snapshot, name: string): Droplet[] =>
  droplets.filter((one) => one.name === name).toSorted((a, b) => a.id - b.id);
