import type { Actor } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import type { Source } from '#core/provider.ts';

/** A source as the configuration names it, opened. */
export interface OpenedSource {
  /** Its `name:`, or kind and place; never its position. */
  readonly id: string;
  readonly kind: string;
  readonly source: Source;
  readonly everyMs: number;
  /** The operator's own file may name every kind; a foreign document only harmless ones. */
  readonly trust: 'operator' | 'foreign';
  readonly allow?: {
    readonly backends?: readonly string[] | undefined;
    readonly maxAgents?: number | undefined;
    readonly namePrefix?: string | undefined;
  };
}

export interface Expectation {
  /** The revision that the caller has seen; a newer one refuses the write. */
  readonly revision?: number | undefined;
}

/** Which pools exist: one owner each, last good definition kept, removals drained. */
export interface Pools {
  /** The sources that should be there now; one that vanished is held, with its pools. */
  setSources(sources: readonly OpenedSource[]): void;
  /** Creates or changes a pool of the source `api` from its document. */
  define(text: string, expect: Expectation, actor: Actor): Promise<Pool>;
  /** Drains and forgets a pool of the source `api`. */
  remove(name: string, expect: Expectation, actor: Actor): Promise<Pool>;
  pause(name: string, isPaused: boolean, actor: Actor): Promise<Pool>;
  /** Syncs that source now. */
  sync(source: string): void;
  /** Lets a held listing through. */
  approve(source: string, actor: Actor): Promise<void>;
  stop(): Promise<void>;
}
