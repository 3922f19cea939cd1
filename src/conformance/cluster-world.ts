import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import type { FaultKind } from '#core/fault.ts';
import type { AnyKind } from '#core/provider.ts';

/** One API server of its own with the place that its credentials come from, seen from both sides. */
export interface ClusterWorld {
  /** Opens the kind there: again and again, as restarted servers do. */
  open(): Promise<ClusterAccess>;
  /** Whether the API server takes that credential at this moment. */
  accepts(credential: ClusterCredential): boolean;
  /** Replaces the credential at its place; the API server takes the old one no longer. */
  rotate(): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Awaits a call while time passes in the world; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Everything logged so far, as one text. */
  logged(): string;
  /** What must never be seen in a log, a fault or an id. */
  readonly secrets: readonly string[];
  /** How faults name the place of the credential: a path, a program, a host. */
  readonly place: string;
  /** How often the place was asked for a credential; where asking costs more than reading a file. */
  asked?(): number;
  /** How long a credential is good; where it expires. */
  readonly lifetimeMs?: number | undefined;
  /** From now on the place gives no credential, and fails in this way. */
  fail?(kind: FaultKind): Promise<void>;
  /** From now on the place does not answer. */
  hang?(): Promise<void>;
  /** How many processes, connections and timers of the access are left. */
  left?(): number | Promise<number>;
  close(): Promise<void>;
}

export type ClusterLawId =
  | 'address'
  | 'same id'
  | 'accepted'
  | 'memory'
  | 'refused'
  | 'one renewal'
  | 'expires'
  | 'typed faults'
  | 'aborted'
  | 'hangs'
  | 'secrets'
  | 'closes';

/** How the suite gets at a kind. */
export interface ClusterHarness {
  readonly kind: AnyKind<ClusterAccess>;
  /** A new API server for each law. */
  openWorld(): Promise<ClusterWorld>;
  /** The failures that this place knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<ClusterLawId, string>>>;
}

/** All that the laws need; the kind itself is checked apart. */
export type ClusterSubject = Omit<ClusterHarness, 'kind'>;
