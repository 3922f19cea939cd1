import type { FaultKind } from '#core/fault.ts';
import type { AnyKind, Source } from '#core/provider.ts';
import type { DocumentReport } from '#core/source.ts';

/** One place of its own that holds documents, seen from both sides: through sources, and past them. */
export interface SourceWorld {
  /** Opens the kind there: again and again, as restarted servers do. */
  open(): Promise<Source>;
  /** Writes a document as its users do; answers the key under which the source lists it. */
  write(name: string, text: string): Promise<string>;
  /** What the source lists of that text, where its users do not write pool documents and it makes them itself. */
  listedText?(name: string, text: string): string;
  remove(name: string): Promise<void>;
  /** Awaits a call while time passes in the world; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Everything logged so far, as one text. */
  logged(): string;
  /** From now on this one document cannot be read. */
  spoil?(name: string): Promise<void>;
  /** The next listing fails after its first part, or altogether where it has only one. */
  breakListing?(): Promise<void>;
  /** The next calls never answer. */
  hang?(): void;
  /** The next listing fails as the place does in such a case. */
  fail?(kind: FaultKind): Promise<void>;
  /** Deletes a document as its users do who wait until the pool is gone; for sources that report. */
  markDeleted?(name: string): Promise<void>;
  /** The phase that the writer of a document sees of it; for sources that report. */
  reported?(name: string): Promise<DocumentReport['phase'] | undefined>;
  close(): Promise<void>;
}

export type SourceLawId =
  | 'lists all'
  | 'empty'
  | 'held'
  | 'versions'
  | 'removed'
  | 'bad alone'
  | 'lists in part'
  | 'typed faults'
  | 'aborted'
  | 'hangs'
  | 'secrets'
  | 'reports'
  | 'deleted';

/** How the suite gets at a kind. */
export interface SourceHarness {
  readonly kind: AnyKind<Source>;
  /** A new place for each law, with nothing in it. */
  openWorld(): Promise<SourceWorld>;
  /** More documents than one page of a listing holds; 3 where it has no pages. */
  readonly many?: number;
  /** The failures that this place knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<SourceLawId, string>>>;
}

/** Planted in every document; it must never be seen in a log or a fault. */
export const PLANTED_SECRET = 'planted-secret-7d2e61';

/** A pool document of that name, as plain as can be. */
export function aDocument(name: string, maxAgents = 1): string {
  return JSON.stringify({ name, auto_scaler: { max_agents: maxAgents, metadata: { description: PLANTED_SECRET } } });
}
