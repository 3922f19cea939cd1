import type { Document } from '#core/provider.ts';
import type { ListedParameter } from '../client.ts';

/** One reading of all parameters. */
export interface Reading {
  readonly held: ReadonlyMap<string, string>;
  readonly documents: Document[];
  readonly signal: AbortSignal;
}

/** One parameter as a document; its text only where it is not the version held. */
export function takeParameter({ Name, Value, Version }: ListedParameter, { held, documents }: Reading): void {
  if (Name === undefined) return;
  const version = String(Version ?? 0);
  if (held.get(Name) === version) documents.push({ key: Name, version });
  else documents.push({ key: Name, version, text: Value ?? '' });
}
