// What the library takes from outside: tests put clouds and clocks of their own in its place.
import type { KnownKinds } from '#config/kinds.ts';
import type { Clock } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { HeldFolder } from './held-folder.ts';

/** A store that was opened for one operation. */
export interface OpenedStore {
  readonly store: Store;
  close(): Promise<void>;
}

export interface LibraryParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly kinds: KnownKinds;
  /** The ways out of this process, and what its environment says. */
  readonly outside: Pick<Context, 'fetch' | 'fetchWith' | 'isDirect' | 'userAgent' | 'unary' | 'clusterAt'>;
  /** Asks machines for their health. */
  readonly probe: typeof fetch;
  variable(name: string): string | undefined;
  /** Where the folders of computers are, if the caller does not say. */
  readonly stateDir: string;
  /** Keeps others out of a folder, or throws a `Fault` that says who is there. */
  hold(folder: string): Promise<HeldFolder>;
  /** Whether a folder has anything to find. */
  isUsed(folder: string): boolean;
  /** `lost` is called once when the store fails: nothing that comes after is kept. */
  openStore(folder: string, log: Log, lost: (fault: Fault) => void): Promise<OpenedStore>;
}
