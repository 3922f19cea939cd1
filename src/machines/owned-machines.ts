import type { Clouds } from '#clouds/clouds.ts';
import type { Hello } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Agent, LaunchRecord, MachineRow } from '#core/machine.ts';
import type { Offer } from '#core/pool.ts';
import type { Boot, Machine, Use } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Change, Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import type { JoiningAgent } from './agents.ts';
import type { Observation, Observations } from './observation.ts';
import type { PendingCalls } from './pending-call.ts';
import type { MachineTimes } from './times.ts';
import type { UnknownMachines } from './unknown.ts';
import type { Waiting } from './waiting.ts';

/** Why there is no machine; with a remedy if the cloud's kind knows one. */
export type Failure = Pick<Fault, 'kind' | 'message'> & Partial<Pick<Fault, 'retryAfterMs' | 'remedy'>>;

/** The fields of a new row that this folder fills in; the feature adds its own. */
export type NewRow = Pick<MachineRow, 'id' | 'machine' | 'offer' | 'askedAt'> & Partial<MachineRow>;

/** What happened to a machine; the feature's events are named `<use>.<this>`. */
export type MachineEvent = 'failed' | 'gone' | 'removing' | 'removed' | 'parking';

/** A feature that owns machines: its rows, and its callbacks for what happens to them. */
export interface MachineOwner<R extends MachineRow> {
  readonly use: Use;
  /** What its owners are called in logs: `pool`, `computer`. */
  readonly noun: string;
  get(id: string): R | undefined;
  /** The row whose machine its cloud lists under that name. */
  named(machine: string): R | undefined;
  rowsOf(owner: string): Iterable<R>;
  /** Any row of that launch. */
  launched(launch: string): R | undefined;
  ownerOf(row: R): string;
  isOwner(id: string): boolean;
  /** What an owner is called, and the source that defines it; undefined: there is none any more. */
  ownerNamed(id: string): { readonly name: string; readonly source?: string | undefined } | undefined;
  /** Frozen or paused: none of its machines is deleted or adopted. */
  isHeld(owner: string): boolean;
  /**
   * How long a machine may stay that has its mark and never had a row here; 0: for ever. Undefined, or absent: the sweep
   * deletes it at once.
   */
  orphansStayMs?(owner: string): number | undefined;
  /** Whether it is still needed: false if it was cancelled before its cloud was called. */
  isWanted(row: R): boolean;
  /** Whether a machine of another form would be made in its place now. */
  isOutdated(row: R): boolean;
  /** Whether its stopped machines may be kept: not while it is being removed. */
  keepsParked(owner: string): boolean;
  /** The ids of all offers that its owners launch from. */
  offersInUse(): Iterable<string>;
  hasRowsOf(offer: string): boolean;
  /** What its owner says that one machine of that offer costs, in dollars an hour; absent: what its cloud says. */
  statedPrice(owner: string, offer: string): number | undefined;
  row(owner: string, fields: NewRow): R;
  put(row: R): Change;
  /** Drops the row, and all of the feature's that ends with it; the row of its agent goes by itself. */
  drop(row: R): readonly Change[];
  event(row: R, event: { kind: MachineEvent; message: string; fields?: Readonly<Record<string, unknown>> }): Change;
  /** Changes that adopt a machine that the restored backup did not contain; none: it is left alone. */
  adopt(machine: Machine, offer: Offer): readonly Change[];
  /** The cloud created or woke no machine for a launch. */
  launchFailed(owner: string, offer: string, fault: Failure): void;
  /** The cloud has answered a launch of that owner from that offer, and agreed to all of it. */
  launchAgreed(owner: string, offer: string): void;
  /** Verifies an agent, or throws a `Fault`; resolves with the id of its row once that is durable. Absent: by its launch token, then by its key. */
  admit?(joining: JoiningAgent): Promise<string>;
  /** Its agent is about to be connected. Throws a `Fault` where a decision that was made meanwhile forbids that. */
  connected(row: R, hello: Hello): { readonly labels: Agent['labels']; readonly changes: readonly Change[] };
  /** Its agent has disconnected; returns what is committed with that. */
  disconnected(agent: Agent): readonly Change[];
  /** Right before its cloud is asked to stop or delete it. */
  leaving(row: R): void;
  /** The row is gone for good. */
  removed(id: string): void;
  /** Something about its machines may have changed. */
  poke(owner: string): void;
}

export interface MachinesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly clouds: Clouds;
  /** Equal for offers that make equal machines, whatever their credentials and limits; absent: their ids. */
  offerShape?(offer: Offer): string;
  readonly times?: Partial<MachineTimes> | undefined;
  /** The same for the same launch, always. */
  launchToken(launch: string): string;
  /** The launch that a token was made for. */
  verifyLaunchToken(token: string): string | undefined;
}

/** What all machines share, whichever feature asked for them. */
export interface Base extends MachinesDeps {
  offerShape(offer: Offer): string;
  readonly times: MachineTimes;
  /** When this process began, on the monotonic clock. */
  readonly startedMs: number;
  readonly stopping: AbortSignal;
  nextId(): string;
  /** Like `store.commit`, then wakes what depends on it. A failed store ends the process, so callers need not catch. */
  commit(changes: readonly Change[], thenDo?: () => void): void;
  /** Runs asynchronous work outside of any pass; errors are logged. */
  start(what: string, work: () => Promise<void>): void;
  /** Whether the machines of that cloud have been compared with our rows at least once. */
  isReviewed(cloud: string): boolean;
  /** The row of a machine was dropped: the next review checks it even if its listing is unchanged. */
  invalidate(cloud: string | undefined, machine: string): void;
  /** An owner is no more: orphans that it let stay are deleted now. */
  ownerGone(owner: string): void;
}

/** The machines that one feature asked for. */
export interface OwnedMachines<R extends MachineRow = MachineRow, O extends Observation = Observation>
  extends MachineOwner<R> {
  readonly base: Base;
  readonly observations: Observations<R, O>;
  readonly calls: PendingCalls;
  readonly unknown: UnknownMachines;
  readonly waiting: Waiting;
  /** Called with the last state of a dropped row. */
  forget(id: string, row: R | undefined): void;
  admit(joining: JoiningAgent): Promise<string>;
  /** Of one machine of that offer, in dollars an hour. */
  priceOf(owner: string, offer: string): number | undefined;
  /** The same for the same launch, always. */
  bootOf(record: LaunchRecord): Boot;
}

/** A machine as the listing of its cloud shows it. */
export function listedOf({ base }: Pick<OwnedMachines, 'base'>, { offer, machine }: MachineRow): Machine | undefined {
  return offer === undefined ? undefined : base.clouds.listing(offer)?.machines.get(machine);
}
