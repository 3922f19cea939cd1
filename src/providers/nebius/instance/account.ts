// One project of Nebius as this process sees it: what it lists, and what was asked of it and is not listed yet.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context, Machine, Mark, Outcome, Trouble } from '#core/provider.ts';
import { METHODS } from '../api.ts';
import { everyPage, type Nebius } from '../client.ts';
import type { Instance } from '../gen/nebius_pb.ts';
import { markOf } from './marks.ts';

/** An instance that Nebius agreed to make. */
export interface Promised {
  readonly id: string;
  readonly operation: string;
  /** The client that made it. */
  readonly api: Nebius;
  readonly mark: Mark;
  readonly atMs: number;
  /** When the operation was last looked at. */
  checkedMs: number;
}

/** A complete listing, of our cluster alone. */
export interface Snapshot {
  readonly startedMs: number;
  readonly instances: readonly Instance[];
}

export interface Account {
  readonly clock: Clock;
  readonly log: Context['log'];
  readonly cluster: string;
  readonly parent: string;
  last: Snapshot | undefined;
  /** By name, until its operation is over or a listing shows it running. */
  readonly promised: Map<string, Promised>;
  /** By name: what was promised and never came, until it is deleted. */
  readonly failed: Map<string, Machine>;
  /** By id: why an instance failed. */
  readonly reasons: Map<string, Trouble>;
  /** By name: creations on their way. */
  readonly underWay: Map<string, Promise<Outcome>>;
  /** Told of each promise, where someone follows them. */
  follower: (() => void) | undefined;
}

/** The same for all that one server opens on one project. */
export function accountAt(cloud: string, parent: string, context: Context): Account {
  return context.shared<Account>(`account ${cloud}`, () => ({
    clock: context.clock,
    log: context.log,
    cluster: context.cluster,
    parent,
    last: undefined,
    promised: new Map(),
    failed: new Map(),
    reasons: new Map(),
    underWay: new Map(),
    follower: undefined,
  }));
}

// Each instance comes with its user data of up to 32 KiB, and gRPC refuses answers of more than 4 MiB.
const PAGE = 100n;

/** All instances of our cluster: Nebius cannot list by label, so all of the project are read. */
export async function look(account: Account, api: Nebius, signal: AbortSignal): Promise<Snapshot> {
  const { clock, cluster, parent } = account;
  if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  const startedMs = clock.monotonic();
  const instances = await everyPage(api, signal, async (pageToken) => {
    const question = { parentId: parent, pageSize: PAGE, pageToken };
    const { items, nextPageToken } = await api.ask(METHODS.listInstances, question, { signal });
    return { found: items.filter((one) => markOf(one)?.cluster === cluster), nextPageToken };
  });
  const snapshot = { startedMs, instances };
  if ((account.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) account.last = snapshot;
  return snapshot;
}
