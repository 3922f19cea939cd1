import type { Source } from '#core/provider.ts';

/** What the operator lets a source define. */
export interface Allow {
  /** The backend kinds that its pools may name. */
  readonly backends?: readonly string[] | undefined;
  /** The most that `max_agents` of one of its pools may be. */
  readonly maxAgents?: number | undefined;
  readonly namePrefix?: string | undefined;
}

/** A source as the configuration names it, opened. */
export interface OpenedSource {
  /** Its `name:`, or kind and place; never its position. */
  readonly id: string;
  readonly kind: string;
  /** Where it reads, such as a path or prefix: if that changes under the same id, what is missing there is held. */
  readonly place?: string | undefined;
  readonly source: Source;
  readonly everyMs: number;
  /** The operator's own file may name every kind; a foreign document only harmless ones. */
  readonly trust: 'operator' | 'foreign';
  readonly allow?: Allow | undefined;
}
