import type { FaultKind } from './fault.ts';
import type { Row } from './store.ts';

/** How a source is doing; its identity is its name, or kind and place, never its position. */
export interface SourceState extends Row {
  readonly id: string;
  readonly kind: string;
  readonly lastGoodAt?: number | undefined;
  readonly fault?: { readonly kind: FaultKind; readonly message: string; readonly at: number } | undefined;
  /** A listing that would remove too much waits here for approval. */
  readonly held?: { readonly at: number; readonly why: string; readonly keys: readonly string[] } | undefined;
}

/** How one document of a source is doing. */
export interface DocumentState extends Row {
  /** Source and key, joined by a newline. */
  readonly id: string;
  readonly source: string;
  readonly key: string;
  readonly version: string;
  readonly pool?: string | undefined;
  readonly fault?:
    | { readonly kind: FaultKind; readonly message: string; readonly place?: string | undefined }
    | undefined;
  /** In how many good listings in a row it was missing. */
  readonly missed: number;
}
