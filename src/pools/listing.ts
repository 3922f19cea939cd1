import { Fault } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import type { Claims } from './claims.ts';
import type { Feed, Registry } from './registry.ts';

// Ten thousand parameters at ten a page, and the rate that clouds allow, take minutes; a call that hangs takes for ever.
const LONGEST_LISTING_MS = 10 * 60_000;

/** The versions that need not be sent again: those read by this process and found good. */
function heldVersions(claims: Claims, source: string): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const { key, version, spec } of claims.of(source).values()) {
    if (spec) held.set(key, version);
  }
  return held;
}

/** The whole set of a source by key, or throws; a source that does not answer is left behind after a while. */
export async function listDocuments(
  { deps, claims }: Registry,
  { opened, closed, log }: Feed,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Document>> {
  const late = new AbortController();
  const cancelAlarm = deps.clock.alarm(LONGEST_LISTING_MS, () => late.abort());
  const ended = AbortSignal.any([signal, closed.signal, late.signal]);
  let stopWaiting = (): void => {};
  const givenUp = new Promise<never>((_resolve, reject) => {
    stopWaiting = () => reject(new Fault('unavailable', 'The source did not answer in time.'));
    ended.addEventListener('abort', stopWaiting);
  });
  try {
    const documents = await Promise.race([opened.source.documents(heldVersions(claims, opened.id), ended), givenUp]);
    return byKey(documents, (key) => log('warn', 'source lists a document twice', { document: key }));
  } finally {
    cancelAlarm();
    ended.removeEventListener('abort', stopWaiting);
  }
}

function byKey(documents: readonly Document[], twice: (key: string) => void): ReadonlyMap<string, Document> {
  const listed = new Map<string, Document>();
  for (const document of documents) {
    if (listed.has(document.key)) twice(document.key);
    else listed.set(document.key, document);
  }
  return listed;
}
