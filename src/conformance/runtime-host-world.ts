import type { FaultKind } from '#core/fault.ts';
import type { AnyKind } from '#core/provider.ts';
import type { RuntimeHost } from '#core/runtime-host.ts';

/** One place of its own where runtimes are made, seen from both sides. */
export interface RuntimeHostWorld {
  /** Opens the kind there: again and again, as restarted servers do. */
  open(): Promise<RuntimeHost>;
  /** Lets time pass until nothing happens there any more. */
  settle(): Promise<void>;
  /** Awaits a call while time passes in the world; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** The names of all that exists there, of whomever. */
  existing(): readonly string[];
  /** Changes with every write there. */
  revision(): number;
  /** Stands for the data of a runtime; undefined where there is none. */
  dataOf(id: string): string | undefined;
  /** Removes or changes something of a runtime, as another client would. */
  damage(id: string): Promise<void>;
  /** Something of the same names or labels that is not ours. */
  addForeign(): Promise<void>;
  /** From now on the runtimes do not answer. */
  silence(): void;
  /** From now on every call fails in this way. */
  fail(kind: FaultKind): void;
  /** From now on no call is answered. */
  hang(): void;
  close(): Promise<void>;
}

export type RuntimeHostLawId =
  | 'absent'
  | 'renders only'
  | 'applies'
  | 'repeats'
  | 'changes'
  | 'answers'
  | 'repairs'
  | 'only grows'
  | 'hibernates'
  | 'releases'
  | 'only ours'
  | 'typed faults'
  | 'aborted';

/** How the suite gets at a kind. */
export interface RuntimeHostHarness {
  readonly kind: AnyKind<RuntimeHost>;
  /** A new place for each law. */
  openWorld(): Promise<RuntimeHostWorld>;
  /** The failures that this place knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<RuntimeHostLawId, string>>>;
}

/** All that the laws need; the kind itself is checked apart. */
export type RuntimeHostSubject = Omit<RuntimeHostHarness, 'kind'>;
