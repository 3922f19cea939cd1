// Takes one good listing in: what changed, what is bad, what is missing; answers the names to be settled.
import { Fault } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import { inSlices } from '#core/slices.ts';
import { type DocumentState, documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Claim } from './claims.ts';
import { actorOf } from './pool-change.ts';
import { readDocument } from './reading.ts';
import type { Feed, Registry } from './registry.ts';
import { isSame } from './same.ts';
import { documentChange } from './settle.ts';
import { MISSES_TO_DROP } from './standing.ts';

type Listed = ReadonlyMap<string, Document>;

function readClaim({ deps }: Registry, { opened, log }: Feed, { key, version, text, fault }: Document): Claim {
  const base = { source: opened.id, key, version };
  if (fault) return { ...base, fault };
  if (text === undefined) {
    return { ...base, fault: new Fault('internal', 'The source sent no text for a version that was never read.') };
  }
  const { spec, fault: refusal, warnings } = readDocument(deps.readPool, opened, text);
  const isNew = deps.store.view.documents.get(documentId(opened.id, key))?.version !== version;
  if (isNew && warnings?.length) log('warn', 'document has warnings', { document: key, version, warnings });
  return { ...base, spec, fault: refusal };
}

/** Reads what is new, and again what was bad: what refused it may have been mended elsewhere. */
export async function readChanged(registry: Registry, feed: Feed, listed: Listed): Promise<readonly Claim[]> {
  const known = registry.claims.of(feed.opened.id);
  const changed: Claim[] = [];
  await inSlices(registry.deps.clock, listed.values(), (document) => {
    const claim = known.get(document.key);
    if (claim?.spec && claim.version === document.version && !document.fault) return;
    changed.push(readClaim(registry, feed, document));
  });
  return changed;
}

function refusedChanges(registry: Registry, feed: Feed, claim: Claim & { readonly fault: Fault }): Change[] {
  const { deps } = registry;
  const before = deps.store.view.documents.get(documentId(claim.source, claim.key));
  const fault = { kind: claim.fault.kind, message: registry.redact(claim.fault.message), place: claim.fault.at };
  const changes = documentChange(registry, claim, { pool: before?.pool, fault });
  if (before?.version === claim.version && isSame(before.fault, fault)) return changes;
  feed.log('warn', 'document refused', {
    document: claim.key,
    version: claim.version,
    place: fault.place,
    error: fault.message,
  });
  // What is said of several mistakes names their places itself.
  const place = fault.place && !fault.message.includes(`${fault.place}: `) ? ` (${fault.place})` : '';
  const event = deps.journal.event(
    {
      kind: 'document.refused',
      subject: `source/${claim.source}`,
      ...(before?.pool !== undefined && { pool: before.pool }),
      message: `Document "${claim.key}" was refused${place}: ${fault.message}`,
      fields: { document: claim.key, version: claim.version, place: fault.place },
    },
    actorOf(claim),
  );
  return [...changes, event];
}

/** The rows of a source, by id, that a listing lacks. */
export async function findMissing({ deps }: Registry, { opened }: Feed, listed: Listed): Promise<readonly string[]> {
  const { documents } = deps.store.view;
  const missing: string[] = [];
  await inSlices(deps.clock, [...documents.by('source', opened.id)], ({ id, key }) => {
    if (!listed.has(key)) missing.push(id);
  });
  return missing;
}

/** Only rows that own a pool are kept while missing: nothing depends on the others. */
function missedChanges(row: DocumentState, mayConfirm: boolean): Change[] {
  if (row.pool === undefined) return [drop('documents', row.id)];
  if (row.missed >= MISSES_TO_DROP || (row.missed > 0 && !mayConfirm)) return [];
  return [put('documents', { ...row, missed: row.missed + 1 })];
}

/** In how many listings a pool was missing that no row counts for, since its document gives, or gave, another name. */
function missesOf(
  { claims, poolNamed, deps }: Registry,
  { opened, outgrown }: Feed,
  { name, mayConfirm }: { readonly name: string; readonly mayConfirm: boolean },
): number | undefined {
  const pool = poolNamed(name);
  if (pool?.owner.source !== opened.id || pool.removal) return undefined;
  const claim = claims.get(opened.id, pool.owner.key);
  if (claim?.spec?.name === name) return undefined;
  const row = deps.store.view.documents.get(documentId(opened.id, pool.owner.key));
  if (!claim?.spec && row?.pool === pool.id) return undefined;
  // A bad document may mean this pool as well as another: it counts neither way.
  if (claim && !claim.spec) return 0;
  const before = outgrown.get(name) ?? 0;
  return before === 0 || mayConfirm ? Math.min(before + 1, MISSES_TO_DROP) : before;
}

/** To be called for each name of a listing before it is settled. */
export function countOutgrown(
  registry: Registry,
  feed: Feed,
  listing: { readonly name: string; readonly mayConfirm: boolean },
): void {
  const misses = missesOf(registry, feed, listing);
  if (misses === undefined) feed.outgrown.delete(listing.name);
  else feed.outgrown.set(listing.name, misses);
}

/** After a start nothing is known of what the documents of its pools said before: all of them are looked at. */
function ownedNames({ deps }: Registry, source: string): Set<string> {
  return new Set([...deps.store.view.pools.by('source', source)].map(({ name }) => name));
}

export interface TakenIn {
  /** The names that this listing may have changed something for. */
  readonly names: ReadonlySet<string>;
  readonly isChanged: boolean;
  /** How many documents that own a pool were not in it. */
  readonly missing: number;
}

/** What a listing says, read and compared, ready to be taken in. */
export interface News {
  readonly changed: readonly Claim[];
  /** Ids of rows. */
  readonly missing: readonly string[];
  /**
   * Whether it may confirm that a document is missing. One that was only hinted at may not: hints come in bursts,
   * while files are being replaced.
   */
  readonly mayConfirm: boolean;
}

/** All at once, so that a pool that moves from one document to another is never seen under both or none. */
export function takeIn(registry: Registry, feed: Feed, news: News): TakenIn {
  const { claims, deps } = registry;
  const { documents, pools } = deps.store.view;
  const source = feed.opened.id;
  const names = feed.readTick === 0 ? ownedNames(registry, source) : new Set<string>();
  for (const name of [...feed.staleNames, ...feed.outgrown.keys()]) names.add(name);
  feed.staleNames.clear();
  const changes: Change[] = [];
  const touch = (claim: Claim | undefined, row: DocumentState | undefined): void => {
    if (claim?.spec) names.add(claim.spec.name);
    const pool = row?.pool === undefined ? undefined : pools.get(row.pool);
    if (pool) names.add(pool.name);
  };
  for (const claim of news.changed) {
    touch(claims.set(claim), documents.get(documentId(source, claim.key)));
    touch(claim, undefined);
    if (claim.fault) changes.push(...refusedChanges(registry, feed, { ...claim, fault: claim.fault }));
  }
  const missing = news.missing.flatMap((id) => documents.get(id) ?? []);
  for (const row of missing) {
    touch(claims.delete(source, row.key), row);
    changes.push(...missedChanges(row, news.mayConfirm));
  }
  if (changes.length > 0) void registry.commit(changes);
  return { names, isChanged: changes.length > 0, missing: missing.filter(({ pool }) => pool !== undefined).length };
}
