// A place for documents in memory with what real ones have: pages, versions, calls that hang. The suite is tried on it,
// whole and broken.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { AnyKind, Document, Source } from '#core/provider.ts';
import type { DocumentReport } from '#core/source.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { SourceHarness, SourceWorld } from './source-world.ts';

const PAGE = 5;
const CALL_MS = 50;
const LONGEST_CALL_MS = 60_000;

/** What may be wrong with a source; each must break a law. */
export interface SourceMistakes {
  readonly firstPageOnly?: boolean;
  readonly listsTwice?: boolean;
  readonly trimsText?: boolean;
  readonly emptyIsAnError?: boolean;
  readonly ignoresHeld?: boolean;
  readonly looksAtKeysOnly?: boolean;
  readonly sameVersion?: boolean;
  readonly freshVersions?: boolean;
  readonly remembersRemoved?: boolean;
  readonly leavesOutBad?: boolean;
  readonly badSpoilsAll?: boolean;
  readonly swallowsBrokenPage?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly ignoresAbort?: boolean;
  readonly hangsForEver?: boolean;
  readonly logsText?: boolean;
  readonly reportsToAll?: boolean;
  readonly swallowsReports?: boolean;
  readonly reportChangesVersion?: boolean;
  readonly reportsWhenAborted?: boolean;
  readonly refusesUnknownKey?: boolean;
  readonly hidesDeleted?: boolean;
  readonly listsDeletedAsLiving?: boolean;
  readonly forgetsDeletions?: boolean;
  readonly ignoresGone?: boolean;
  readonly refusesGoneTwice?: boolean;
  readonly goneTakesAll?: boolean;
}

export function memorySource(mistakes: SourceMistakes = {}): SourceHarness {
  return {
    kind: memorySourceKind(),
    openWorld: async () => openWorld(mistakes),
    many: PAGE * 2 + 1,
    faults: ['denied', 'missing', 'throttled', 'unavailable'],
  };
}

export function memorySourceKind(): AnyKind<Source> {
  return {
    summary: 'Documents that exist only in memory.',
    config: z.object({ configPrefix: z.string() }),
    example: { config_prefix: '/pools/' },
    trust: 'any source',
    open: () => Promise.reject(new Fault('unsupported', 'Opened by its world.')),
  };
}

interface DocumentsPlace {
  readonly clock: VirtualClock;
  readonly texts: Map<string, string>;
  readonly bad: Set<string>;
  readonly deleted: Set<string>;
  readonly reports: Map<string, DocumentReport['phase']>;
  readonly next: { broken?: boolean; hanging?: boolean; fault?: FaultKind | undefined };
  readonly lines: string[];
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** The next keys, as a store with pages gives them. */
async function page(place: DocumentsPlace, from: number, signal: AbortSignal): Promise<readonly string[]> {
  const { clock, next, texts } = place;
  await clock.sleep(next.hanging ? Number.MAX_SAFE_INTEGER : CALL_MS, signal);
  if (signal.aborted) throw new Fault('unavailable', 'The call was given up.');
  const { fault } = next;
  next.fault = undefined;
  if (fault) throw new Fault(fault, 'The place refused.');
  if (next.broken && from > 0) {
    next.broken = false;
    throw new Fault('unavailable', 'The page is lost.');
  }
  return [...texts.keys()].slice(from, from + PAGE);
}

async function allKeys(place: DocumentsPlace, mistakes: SourceMistakes, signal: AbortSignal): Promise<string[]> {
  const keys: string[] = [];
  for (;;) {
    const more = await page(place, keys.length, signal).catch((thrown) => {
      if (mistakes.swallowsBrokenPage && keys.length > 0) return [];
      throw mistakes.everyFaultIsInternal ? new Fault('internal', 'Something failed.') : thrown;
    });
    keys.push(...more);
    if (more.length < PAGE || mistakes.firstPageOnly) return keys;
  }
}

function openSource(place: DocumentsPlace, mistakes: SourceMistakes): Source {
  const { texts, bad, lines } = place;
  const seen = new Map<string, string>();
  let opened = 0;

  function document(key: string, held: ReadonlyMap<string, string>): Document {
    if (isKnownDeleted(key)) return { key, version: hashOf(texts.get(key) ?? ''), isDeleted: true };
    if (bad.has(key)) return { key, version: 'bad', fault: new Fault('denied', `${key} may not be read.`) };
    const text = seen.get(key) ?? '';
    if (mistakes.logsText) lines.push(`read ${text}`);
    const version = versionOf(text);
    const isHeld = mistakes.looksAtKeysOnly ? held.has(key) : held.get(key) === version;
    if (isHeld && !mistakes.ignoresHeld) return { key, version };
    return { key, version, text: mistakes.trimsText ? text.slice(1) : text };
  }

  const deletedSince = new Set(place.deleted);
  const isKnownDeleted = (key: string): boolean =>
    place.deleted.has(key) && !mistakes.listsDeletedAsLiving && !(mistakes.forgetsDeletions && deletedSince.has(key));

  function end(key: string): void {
    if (mistakes.ignoresGone) return;
    if (mistakes.refusesGoneTwice && !texts.has(key)) throw new Fault('missing', 'There is no such document.');
    for (const name of mistakes.goneTakesAll ? [...texts.keys()] : [key]) {
      texts.delete(name);
      place.deleted.delete(name);
    }
  }

  function show(key: string, phase: DocumentReport['phase']): void {
    if (!texts.has(key) && mistakes.refusesUnknownKey) throw new Fault('missing', 'There is no such document.');
    if (!texts.has(key) || mistakes.swallowsReports) return;
    for (const name of mistakes.reportsToAll ? texts.keys() : [key]) place.reports.set(name, phase);
    if (mistakes.reportChangesVersion) texts.set(key, `${texts.get(key)} `);
  }

  function versionOf(text: string): string {
    if (mistakes.sameVersion) return 'v1';
    return mistakes.freshVersions ? `${hashOf(text)}-${place.lines.push('version') + opened}` : hashOf(text);
  }

  function refuse(keys: readonly string[]): void {
    if (mistakes.emptyIsAnError && keys.length === 0) throw new Fault('missing', 'There is nothing.');
    if (mistakes.badSpoilsAll && bad.size > 0) throw new Fault('denied', 'One may not be read.');
  }

  return {
    async documents(held, signal) {
      opened += 1;
      const isDeaf = mistakes.hangsForEver || (mistakes.ignoresAbort && signal.aborted);
      const keys = await allKeys(place, mistakes, isDeaf ? new AbortController().signal : signal);
      refuse(keys);
      if (!mistakes.remembersRemoved) seen.clear();
      for (const key of keys) seen.set(key, texts.get(key) ?? '');
      const living = [...seen.keys()].filter((key) => !(mistakes.hidesDeleted && place.deleted.has(key)));
      const documents = living.map((key) => document(key, held));
      const listed = mistakes.leavesOutBad ? documents.filter(({ fault }) => !fault) : documents;
      return mistakes.listsTwice ? [...listed, ...listed.slice(-1)] : listed;
    },
    async report(key, status, signal) {
      await place.clock.sleep(CALL_MS, signal);
      if (signal.aborted && !mistakes.reportsWhenAborted) throw new Fault('unavailable', 'The call was given up.');
      if (status === 'gone') end(key);
      else show(key, status.phase);
    },
  };
}

function openWorld(mistakes: SourceMistakes): SourceWorld {
  const place: DocumentsPlace = {
    clock: new VirtualClock(),
    texts: new Map(),
    bad: new Set(),
    deleted: new Set(),
    reports: new Map(),
    next: {},
    lines: [],
  };
  return {
    open: async () => openSource(place, mistakes),
    async write(name, text) {
      place.texts.set(`/pools/${name}`, text);
      return `/pools/${name}`;
    },
    remove: async (name) => void place.texts.delete(`/pools/${name}`),
    async during(call) {
      let isDone = false;
      const finished = call.finally(() => {
        isDone = true;
      });
      finished.catch(() => {});
      for (let passedMs = 0; !isDone && passedMs < LONGEST_CALL_MS; passedMs += CALL_MS)
        await place.clock.advance(CALL_MS);
      if (!isDone) return [] as never;
      return finished;
    },
    logged: () => place.lines.join('\n'),
    spoil: async (name) => void place.bad.add(`/pools/${name}`),
    async breakListing() {
      place.next.broken = true;
    },
    hang() {
      place.next.hanging = true;
    },
    async fail(kind) {
      place.next.fault = kind;
    },
    markDeleted: async (name) => void place.deleted.add(`/pools/${name}`),
    reported: async (name) => place.reports.get(`/pools/${name}`),
    close: async () => {},
  };
}
