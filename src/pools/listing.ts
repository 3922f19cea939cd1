// One listing of a source: asks for it, reads what changed, records what is bad or missing.
import { Fault } from '#core/fault.ts';
import type { Document, SourceMemory } from '#core/provider.ts';
import { inSlices, openSlices } from '#core/slices.ts';
import { type DocumentState, documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import { actorOf, documentChange } from './apply-ownership.ts';
import { isSame } from './equal-data.ts';
import { isDeletedByWriter, MISSES_TO_DROP } from './missing-documents.ts';
import { isOwner } from './ownership.ts';
import type { ParsedDocument } from './parsed-documents.ts';
import { type Reading, readPoolDocument } from './read-document.ts';
import {
  accountOf,
  type DeletedDocuments,
  type ListedDocuments,
  type Registry,
  type SourceRunner,
} from './registry.ts';

// Ten thousand parameters at ten a page, and the rate that clouds allow, take minutes; a call that hangs takes for ever.
const LONGEST_LISTING_MS = 10 * 60_000;

/** The whole set of a source by key, or throws; a source that does not answer is left behind after a while. */
export async function listDocuments(
  { deps, parsedDocuments }: Registry,
  runner: SourceRunner,
  signal: AbortSignal,
): Promise<ListedDocuments> {
  const { opened, closed, log } = runner;
  const by = { name: 'documents', is: 'read', account: accountOf(opened), owner: opened.id } as const;
  const call = { ...by, timeoutMs: LONGEST_LISTING_MS, signal: AbortSignal.any([signal, closed.signal]) };
  // The versions that need not be sent again: those read by this process and found good.
  const held = parsedDocuments.heldOf(opened.id);
  const { view } = deps.store;
  let decided: ListedDocuments['decided'];
  const memory: SourceMemory = {
    decided: view.sources.get(opened.id)?.decided ?? {},
    keys: () => Iterator.from(view.documents.by('source', opened.id)).map(({ key }) => key),
    keep: (next) => {
      decided = next;
    },
  };
  const documents = await deps.gate.call(call, (ending) => opened.source.documents(held, ending, memory));
  if (runner.listed?.documents === documents) return Object.assign(runner.listed, { decided });
  const twice = (key: string): void => log('warn', 'source lists a document twice', { document: key });
  return { documents, byKey: byKey(documents, twice), decided };
}

const comparedWith = ({ deps, parsedDocuments }: Registry, { opened }: SourceRunner) => ({
  revision: parsedDocuments.revision(),
  rows: deps.store.view.documents.count('source', opened.id),
});

/** What a listing says that was not known before. A source that keeps its list answers with the very same: that is compared once. */
export async function newsOf(
  registry: Registry,
  runner: SourceRunner,
  listed: ListedDocuments,
): Promise<Omit<News, 'mayConfirm'>> {
  const now = comparedWith(registry, runner);
  const { sameAs } = listed;
  if (sameAs?.revision === now.revision && sameAs.rows === now.rows) return NO_NEWS;
  const changed = await readChanged(registry, runner, listed.byKey);
  const missing = await findMissing(registry, runner, listed.byKey);
  const deleted = deletedIn(listed.byKey);
  const isNews = changed.length + missing.length + deleted.size > 0;
  listed.sameAs = isNews ? undefined : now;
  return { changed, missing, deleted };
}

function byKey(documents: readonly Document[], twice: (key: string) => void): ReadonlyMap<string, Document> {
  const listed = new Map<string, Document>();
  for (const document of documents) {
    if (listed.has(document.key)) twice(document.key);
    else listed.set(document.key, document);
  }
  return listed;
}

type Listed = ReadonlyMap<string, Document>;

function parseDocument(
  { deps }: Registry,
  { opened, log }: SourceRunner,
  { key, version, text, fault, paths, since }: Document,
): ParsedDocument | Promise<ParsedDocument> {
  const base = { source: opened.id, key, version, since };
  if (fault) return { ...base, fault };
  if (text === undefined) {
    return { ...base, fault: new Fault('internal', 'The source sent a new version without its text.') };
  }
  const keep = ({ spec, fault: refusal, warnings }: Reading): ParsedDocument => {
    const isNew = deps.store.view.documents.get(documentId(opened.id, key))?.version !== version;
    if (isNew && warnings?.length) log('warn', 'document has warnings', { document: key, version, warnings });
    return { ...base, spec, fault: refusal };
  };
  const reading = readPoolDocument(deps.readPool, { ...opened, paths, key }, text);
  return reading instanceof Promise ? reading.then(keep) : keep(reading);
}

/** Reads what is new, and again what was bad: the reason for refusing it may be gone. */
export async function readChanged(
  registry: Registry,
  runner: SourceRunner,
  listed: Listed,
): Promise<readonly ParsedDocument[]> {
  const known = registry.parsedDocuments.of(runner.opened.id);
  const changed: ParsedDocument[] = [];
  const slices = openSlices(registry.deps.clock);
  for (const document of listed.values()) {
    const parsed = known.get(document.key);
    const isHeld = parsed?.spec && parsed.version === document.version && !document.fault;
    if (document.isDeleted || isHeld) continue;
    const reading = parseDocument(registry, runner, document);
    changed.push(reading instanceof Promise ? await reading : reading);
    if (slices.isOver()) await slices.next();
  }
  return changed;
}

export function deletedIn(listed: Listed): DeletedDocuments {
  const deleted = new Map<string, { version: string; isForced: true | undefined }>();
  for (const { key, version, isDeleted, isForced } of listed.values())
    if (isDeleted) deleted.set(key, { version, isForced });
  return deleted;
}

function refusedChanges(
  registry: Registry,
  runner: SourceRunner,
  parsed: ParsedDocument & { readonly fault: Fault },
): Change[] {
  const { deps } = registry;
  const before = deps.store.view.documents.get(documentId(parsed.source, parsed.key));
  const { kind, message, at, problems } = parsed.fault;
  const hidden = problems?.map((problem) => ({ ...problem, message: registry.redact(problem.message) }));
  const fault = { kind, message: registry.redact(message), place: at, problems: hidden };
  const changes = documentChange(registry, parsed, { pool: before?.pool, fault });
  if (before?.version === parsed.version && isSame(before.fault, fault)) return changes;
  runner.log('warn', 'document refused', {
    document: parsed.key,
    version: parsed.version,
    place: fault.place,
    error: fault.message,
  });
  const place = fault.place === undefined ? '' : ` (${fault.place})`;
  const event = deps.journal.event(
    {
      kind: 'document.refused',
      subject: `source/${parsed.source}`,
      ...(before?.pool !== undefined && { pool: before.pool }),
      message: `Document "${parsed.key}" was refused${place}: ${fault.message}`,
      fields: { document: parsed.key, version: parsed.version, place: fault.place },
    },
    actorOf(parsed),
  );
  return [...changes, event];
}

/** The rows of a source, by id, that a listing lacks. */
async function findMissing({ deps }: Registry, { opened }: SourceRunner, listed: Listed): Promise<readonly string[]> {
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
  registry: Registry,
  { opened, renamedAway }: SourceRunner,
  { name, mayConfirm }: { readonly name: string; readonly mayConfirm: boolean },
): number | undefined {
  const { parsedDocuments, poolNamed, deps } = registry;
  const pool = poolNamed(name);
  if (pool?.owner.source !== opened.id || pool.removal) return undefined;
  if (isDeletedByWriter(registry, pool)) return undefined;
  const parsed = parsedDocuments.get(opened.id, pool.owner.key);
  if (parsed?.spec?.name === name) return undefined;
  const row = deps.store.view.documents.get(documentId(opened.id, pool.owner.key));
  if (!parsed?.spec && row?.pool === pool.id) return undefined;
  // A bad document may mean this pool as well as another: it counts neither way.
  if (parsed && !parsed.spec) return 0;
  const before = renamedAway.get(name) ?? 0;
  return before === 0 || mayConfirm ? Math.min(before + 1, MISSES_TO_DROP) : before;
}

/** To be called for each name of a listing before it is settled. */
export function countRenamedAway(
  registry: Registry,
  runner: SourceRunner,
  listing: { readonly name: string; readonly mayConfirm: boolean },
): void {
  const misses = missesOf(registry, runner, listing);
  if (misses === undefined) runner.renamedAway.delete(listing.name);
  else runner.renamedAway.set(listing.name, misses);
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
  readonly changed: readonly ParsedDocument[];
  /** Ids of rows. */
  readonly missing: readonly string[];
  readonly deleted: DeletedDocuments;
  /**
   * Whether it may confirm that a document is missing. One that was only hinted at may not: hints come in bursts,
   * while files are being replaced.
   */
  readonly mayConfirm: boolean;
}

const NO_NEWS: Omit<News, 'mayConfirm'> = { changed: [], missing: [], deleted: new Map() };

type Touch = (parsed: ParsedDocument | undefined, row: DocumentState | undefined) => void;

/** What their writers have deleted says nothing any more; a row goes now, unless it owns a pool: then with that. */
function deletedChanges(
  { parsedDocuments, deps }: Registry,
  source: string,
  { deleted, touch }: { readonly deleted: DeletedDocuments; readonly touch: Touch },
): Change[] {
  const { documents, pools } = deps.store.view;
  return [...deleted.keys()].flatMap((key) => {
    const row = documents.get(documentId(source, key));
    touch(parsedDocuments.delete(source, key), row);
    const pool = row?.pool === undefined ? undefined : pools.get(row.pool);
    return row && !(pool && isOwner(pool, row)) ? [drop('documents', row.id)] : [];
  });
}

/** Also those that a deleted document owns under a name that it no longer gave. */
function deletedPools({ deps }: Registry, source: string, deleted: DeletedDocuments): string[] {
  if (deleted.size === 0) return [];
  const pools = [...deps.store.view.pools.by('source', source)];
  return pools.filter(({ owner }) => deleted.has(owner.key)).map(({ name }) => name);
}

/** All at once, so that a pool that moves from one document to another is never seen under both or none. */
export function takeIn(registry: Registry, runner: SourceRunner, news: News): TakenIn {
  const { parsedDocuments, deps } = registry;
  const { documents, pools } = deps.store.view;
  const source = runner.opened.id;
  const names = runner.readTick === 0 ? ownedNames(registry, source) : new Set<string>();
  for (const name of [...runner.staleNames, ...runner.renamedAway.keys()]) names.add(name);
  runner.staleNames.clear();
  const changes: Change[] = [];
  const touch: Touch = (parsed, row) => {
    if (parsed?.spec) names.add(parsed.spec.name);
    const pool = row?.pool === undefined ? undefined : pools.get(row.pool);
    if (pool) names.add(pool.name);
  };
  for (const parsed of news.changed) {
    touch(parsedDocuments.set(parsed), documents.get(documentId(source, parsed.key)));
    touch(parsed, undefined);
    if (parsed.fault) changes.push(...refusedChanges(registry, runner, { ...parsed, fault: parsed.fault }));
  }
  runner.deleted = news.deleted;
  changes.push(...deletedChanges(registry, source, { deleted: news.deleted, touch }));
  for (const name of deletedPools(registry, source, news.deleted)) names.add(name);
  const missing = news.missing.flatMap((id) => documents.get(id) ?? []);
  for (const row of missing) {
    touch(parsedDocuments.delete(source, row.key), row);
    changes.push(...missedChanges(row, news.mayConfirm));
  }
  if (changes.length > 0) void registry.commit(changes);
  return { names, isChanged: changes.length > 0, missing: missing.filter(({ pool }) => pool !== undefined).length };
}
