import { Fault, retryDelayMs } from '#core/fault.ts';
import type { Again } from '#core/loop.ts';
import { inSlices } from '#core/slices.ts';
import { put } from '#core/store.ts';
import { listDocuments } from './listing.ts';
import type { Feed, Registry, SyncOutcome } from './registry.ts';
import type { Removals } from './removals.ts';
import type { Settle } from './settle.ts';
import { countOutgrown, findMissing, readChanged, type TakenIn, takeIn } from './take-in.ts';
import { openTally, type Tally } from './tally.ts';

// Sources of one interval do not all ask in the same moment for ever.
const JITTER = 0.1;

// Timers may ring a little early.
const TIMER_ERROR_MS = 5;

const NOTHING: SyncOutcome = { documents: 0, read: 0, missing: 0, created: [], changed: [], removing: [] };

export interface SyncParts {
  readonly settle: Settle;
  readonly removals: Removals;
  /** Called after each sync of a source, good or failed. */
  readonly ended: (source: string) => void;
}

/** One pass over one source, by its id. */
export type SyncPass = (id: string, signal: AbortSignal) => Promise<Again | undefined>;

export function makeSync(registry: Registry, { settle, removals, ended }: SyncParts): SyncPass {
  const { store, clock, random, journal } = registry.deps;
  const { view } = store;

  const isCurrent = (feed: Feed): boolean => registry.feeds.get(feed.opened.id) === feed;

  function jittered(everyMs: number): number {
    return Math.round(everyMs * (1 - JITTER + 2 * JITTER * random.next()));
  }

  /** Whether this listing is one of the regular ones or was asked for; a mere hint leaves the next regular one where it is. */
  function takesTurn(feed: Feed): boolean {
    const isDue = feed.isAsked || clock.monotonic() >= feed.nextPollMs - TIMER_ERROR_MS;
    feed.isAsked = false;
    if (isDue) feed.nextPollMs = clock.monotonic() + jittered(feed.opened.everyMs);
    return isDue;
  }

  const again = (feed: Feed): Again => ({ afterMs: Math.max(1, Math.ceil(feed.nextPollMs - clock.monotonic())) });

  async function read(feed: Feed, mayConfirm: boolean, signal: AbortSignal): Promise<Tally | undefined> {
    const beganMs = clock.monotonic();
    const beganTick = registry.tick();
    const listed = await listDocuments(registry, feed, signal);
    const changed = await readChanged(registry, feed, listed);
    const missing = await findMissing(registry, feed, listed);
    if (!isCurrent(feed) || signal.aborted) return undefined;
    const isFirst = feed.readTick === 0;
    const taken = takeIn(registry, feed, { changed, missing, mayConfirm });
    feed.readTick = beganTick;
    const tally = openTally(registry, taken.names, {
      documents: listed.size,
      read: changed.length,
      missing: taken.missing,
    });
    let isChanged = taken.isChanged;
    await inSlices(clock, taken.names, (name) => {
      countOutgrown(registry, feed, { name, mayConfirm });
      isChanged = settle(name) || isChanged;
    });
    if (!isCurrent(feed)) return undefined;
    const durationMs = clock.monotonic() - beganMs;
    const { everyMs } = feed.opened;
    const notes = feed.opened.source.notes?.();
    feed.timing = { everyMs, lastTriedAt: clock.now(), lastGoodAt: clock.now(), durationMs, failures: 0, notes };
    recordGood(feed, taken, isChanged || isFirst);
    feed.log(isChanged || isFirst ? 'info' : 'debug', 'source synced', {
      documents: listed.size,
      read: changed.length,
      missing: taken.missing,
      durationMs: Math.round(durationMs),
    });
    return tally;
  }

  function recordGood({ opened }: Feed, taken: TakenIn, hasNews: boolean): void {
    const row = view.sources.get(opened.id);
    const place = taken.missing === 0 ? opened.place : (row?.place ?? opened.place);
    if (!hasNews && row && !row.fault && row.place === place) return;
    const next = { ...row, id: opened.id, kind: opened.kind, place, lastGoodAt: clock.now(), fault: undefined };
    const message = 'Read again after failures.';
    const recovered = { kind: 'source.recovered', subject: `source/${opened.id}`, message };
    void registry.commit([put('sources', next), ...(row?.fault ? [journal.event(recovered)] : [])]);
  }

  function recordFailure(feed: Feed, fault: Fault): void {
    const { opened, timing } = feed;
    const failures = timing.failures + 1;
    const message = registry.redact(fault.message);
    const remedy = registry.redact(fault.remedy);
    feed.timing = { ...timing, lastTriedAt: clock.now(), fault, failures };
    const retryMs = Math.min(jittered(opened.everyMs), retryDelayMs(fault, failures, random.next()));
    feed.nextPollMs = clock.monotonic() + Math.max(retryMs, fault.retryAfterMs ?? 0);
    feed.log('warn', 'source failed', { kind: fault.kind, error: message, remedy, failures });
    const row = view.sources.get(opened.id);
    const isKnown = row?.fault?.kind === fault.kind && row.fault.message === message && row.fault.remedy === remedy;
    if (isKnown) return;
    const at = row?.fault?.at ?? clock.now();
    const next = { ...row, id: opened.id, kind: opened.kind, fault: { kind: fault.kind, message, remedy, at } };
    const failed = {
      kind: 'source.failed',
      subject: `source/${opened.id}`,
      message: `${message} ${remedy}`,
      fields: { fault: fault.kind },
    };
    const isNew = row?.fault?.kind !== fault.kind;
    void registry.commit([put('sources', next), ...(isNew ? [journal.event(failed)] : [])]);
  }

  /** A source that cannot be read since the start keeps its pools: rivals for them are told now. */
  function settleRivals({ opened }: Feed): void {
    for (const { name } of [...view.pools.by('source', opened.id)]) {
      if (registry.claims.named(name).length > 0) settle(name);
    }
  }

  /** Answers how to tell what came of it; nothing where this is no longer ours to read. */
  async function attempt(feed: Feed, signal: AbortSignal): Promise<Tally | undefined> {
    try {
      return await read(feed, takesTurn(feed), signal);
    } catch (thrown) {
      if (!isCurrent(feed) || signal.aborted) return undefined;
      const fault = Fault.from(thrown);
      recordFailure(feed, fault);
      if (feed.readTick === 0 && feed.timing.failures === 1) settleRivals(feed);
      return { outcome: () => ({ ...NOTHING, fault }) };
    }
  }

  return async (id, signal) => {
    const feed = registry.feeds.get(id);
    if (!feed) return undefined;
    const waiting = [...feed.waiting];
    feed.waiting.clear();
    const tally = await attempt(feed, signal);
    removals.review();
    ended(id);
    if (tally) for (const tell of waiting) tell(tally.outcome());
    return isCurrent(feed) ? again(feed) : undefined;
  };
}
