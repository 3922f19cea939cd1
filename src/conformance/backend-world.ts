import { hash } from 'node:crypto';
import type { FaultKind } from '#core/fault.ts';
import type { AnyKind, Backend, Boot, Context, Launch, Machine, Mark, Use } from '#core/provider.ts';
import { openShared } from '#core/shared.ts';

/** Where a port of a machine is reached. */
type Reached = NonNullable<Machine['endpoints']>[number];

/** One cloud of its own, seen from both sides: through backends, and past them. */
export interface BackendWorld {
  /** Opens the kind for that cluster: again and again, as restarted servers do. */
  open(cluster: string): Promise<Backend>;
  /** The names of all machines that exist, of every cluster; asked past any backend. */
  existing(): Promise<readonly string[]>;
  /** Awaits a call while time passes in the cloud; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Lets so much time pass that a listing shows what was made and deleted before. */
  settle(): Promise<void>;
  /** Everything logged so far, as one text. */
  logged(): string;
  /** The next create is carried out, and its answer never arrives. */
  loseReply?(): void;
  /** The next listing fails after its first part. */
  breakListing?(): void;
  /** From now on no listing shows any machine; each is still there when it is asked for by itself. */
  hideFromListings?(): void;
  /** The next calls never answer. */
  hang?(): void;
  /** The next create fails as the cloud does in such a case. */
  fail?(kind: FaultKind): void;
  /** The cloud agrees to make the next machine, and finds out afterwards that it cannot. */
  failLate?(): void;
  /** Opens the kind so that it keeps idle machines stopped. */
  openParking?(cluster: string): Promise<Backend>;
  /** The machine that a connection of the server to that place reaches, and the port of it; nothing where it reaches none. */
  reached?(endpoint: Reached): Promise<{ readonly name: string; readonly port: number } | undefined>;
  /** Opens the kind so that it watches for changes. */
  openWatching?(cluster: string): Promise<Backend>;
  close(): Promise<void>;
}

export type LawId =
  | 'lists all'
  | 'makes once'
  | 'lost reply'
  | 'sees its own'
  | 'foreign mark'
  | 'true mark'
  | 'uses'
  | 'deletes'
  | 'unlisted'
  | 'aborted'
  | 'hangs'
  | 'lists in part'
  | 'typed faults'
  | 'secrets'
  | 'batch'
  | 'late failure'
  | 'pending'
  | 'parks'
  | 'account'
  | 'exact'
  | 'prices'
  | 'hints'
  | 'endpoints'
  | 'ends';

/** How the suite gets at a kind. */
export interface BackendHarness {
  readonly kind: AnyKind<Backend>;
  /** A new cloud for each law. */
  openWorld(): Promise<BackendWorld>;
  /** More machines than one page of the cloud's listing holds; 3 where it has no pages. */
  readonly many?: number;
  /** False where the kind has no place for marks: then it lists none. */
  readonly canMark?: boolean;
  /** False where the cloud shows a single machine by its id alone: without an id only listings can find it. */
  readonly findsNames?: boolean;
  /** Its listings tell where the port of a launch is reached. */
  readonly hasEndpoints?: boolean;
  /** Its cloud itself takes a machine away at the end that its launch names. */
  readonly endsMachines?: boolean;
  /** The failures that this cloud knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<LawId, string>>>;
}

/** Planted in every launch; it must never be seen in a log or a fault. */
export const PLANTED_TOKEN = 'mlt_planted-token-4f1c9e';

export const OURS = 'cluster1';
export const THEIRS = 'cluster2';

export function markOf(cluster: string, use: Use = 'worker'): Mark {
  return { cluster, use, owner: 'pool1', shape: '0123456789ab' };
}

/** A name as the program gives it, another for each `tail`: some clouds keep nothing of a machine but its name. */
export function lawName(tail: string, stem = 'm-law-pool1'): string {
  return `${stem}-${hash('sha256', tail).slice(0, 10)}`;
}

export function aLaunch(cluster: string, names: readonly string[], id = `launch-${names[0]}`): Launch {
  const agentConfig = 'broker:\n  address: 127.0.0.1:1\npool: law\n';
  return { id, mark: markOf(cluster), names, boot: { agentConfig, token: PLANTED_TOKEN }, askedAt: 0 };
}

/** The launch of one machine with more to know. */
export function aLaunchWith(boot: Pick<Boot, 'port' | 'endsAt'>, name: string): Launch {
  const launch = aLaunch(OURS, [name]);
  return { ...launch, boot: { ...launch.boot, ...boot } };
}

/** The context of a process of its own, whose log can be read back, made of what the world has. */
export function contextWithLog(parts: Omit<Context, 'log' | 'shared'>, lines: string[]): Context {
  return {
    shared: openShared(),
    ...parts,
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
  };
}
