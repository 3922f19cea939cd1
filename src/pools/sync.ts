import { Fault, retryDelayMs } from '#core/fault.ts';
import type { Again } from '#core/loop.ts';
import { inSlices } from '#core/slices.ts';
import { put } from '#core/store.ts';
import type { ApplyOwnership } from './apply-ownership.ts';
import type { DroppedPools } from './dropped-pools.ts';
import { isSame } from './equal-data.ts';
import { countRenamedAway, listDocuments, newsOf, type TakenIn, takeIn } from './listing.ts';
import type { ListedDocuments, Registry, SourceRunner, SyncOutcome } from './registry.ts';
import { countOutcome, type OutcomeCounter } from './sync-outcome.ts';
import { thawAsked } from './thaw-pools.ts';

// Sources of one interval do not all ask in the same moment for ever.
const JITTER = 0.1;

// Timers may ring a little early.
const TIMER_ERROR_MS = 5;

// So many documents take some milliseconds to take in.
const MANY = 1_000;

const NOTHING: SyncOutcome = {
  documents: 0,
  read: 0,
  missing: 0,
  created: [],
  changed: [],
  removing: [],
  held: [],
  waiting: [],
};

export interface SyncParts {
  readonly applyOwnership: ApplyOwnership;
  readonly droppedPools: DroppedPools;
  /** Called after each sync of a source, good or failed. */
  readonly ended: (source: string) => void;
  /** Called once a pool is thawed whose writer asked for it, and where there was nothing to thaw. */
  readonly answerThaw: (source: string, key: string) => void;
}

/** One pass over one source, by its id. */
export type SyncPass = (id: string, signal: AbortSignal) => Promise<Again | undefined>;

export function makeSync(registry: Registry, { applyOwnership, droppedPools, ended, answerThaw }: SyncParts): SyncPass {
  const { store, clock, random, journal } = registry.deps;
  const { view } = store;

  const isCurrent = (runner: SourceRunner): boolean => registry.runners.get(runner.opened.id) === runner;

  function jittered(everyMs: number): number {
    return Math.round(everyMs * (1 - JITTER + 2 * JITTER * random.next()));
  }

  /** Whether this listing is one of the regular ones or was asked for; a mere hint leaves the next regular one where it is. */
  function takesTurn(runner: SourceRunner): boolean {
    const isDue = runner.isAsked || clock.monotonic() >= runner.nextPollMs - TIMER_ERROR_MS;
    runner.isAsked = false;
    if (isDue) runner.nextPollMs = clock.monotonic() + jittered(runner.opened.everyMs);
    return isDue;
  }

  const again = (runner: SourceRunner): Again => ({
    afterMs: Math.max(1, Math.ceil(runner.nextPollMs - clock.monotonic())),
  });

  async function read(
    runner: SourceRunner,
    mayConfirm: boolean,
    signal: AbortSignal,
  ): Promise<OutcomeCounter | undefined> {
    const beganMs = clock.monotonic();
    const beganTick = registry.tick();
    const listed = await listDocuments(registry, runner, signal);
    const news = await newsOf(registry, runner, listed);
    const { changed } = news;
    // The next step is one that cannot be cut: it begins with a slice of its own.
    if (changed.length > MANY) await new Promise<void>((resolve) => clock.soon(resolve));
    if (!isCurrent(runner) || signal.aborted) return undefined;
    const isFirst = runner.readTick === 0;
    keepDecided(runner, listed);
    const taken = takeIn(registry, runner, { ...news, mayConfirm });
    runner.listed = listed;
    runner.readTick = beganTick;
    const counts = { documents: listed.byKey.size, read: changed.length, missing: taken.missing };
    const counter = countOutcome(registry, runner.opened.id, { counts, droppedPools });
    let isChanged = taken.isChanged;
    await inSlices(clock, taken.names, (name) => {
      counter.note(name);
      countRenamedAway(registry, runner, { name, mayConfirm });
      isChanged = applyOwnership(name) || isChanged;
    });
    for (const key of await thawAsked(registry, runner, listed)) answerThaw(runner.opened.id, key);
    if (!isCurrent(runner)) return undefined;
    const durationMs = clock.monotonic() - beganMs;
    const { everyMs } = runner.opened;
    const notes = runner.opened.source.notes?.();
    runner.timing = { everyMs, lastTriedAt: clock.now(), lastGoodAt: clock.now(), durationMs, failures: 0, notes };
    recordGood(runner, taken, isChanged || isFirst);
    runner.log(isChanged || isFirst ? 'info' : 'debug', 'source synced', {
      documents: listed.byKey.size,
      read: changed.length,
      missing: taken.missing,
      durationMs: Math.round(durationMs),
    });
    return counter;
  }

  /** Committed before the documents are, so that pools never stand on a decision that a restart would forget. */
  function keepDecided({ opened }: SourceRunner, { decided }: ListedDocuments): void {
    const row = view.sources.get(opened.id);
    if (decided === undefined || isSame(row?.decided ?? {}, decided)) return;
    void registry.commit([put('sources', { ...row, id: opened.id, kind: opened.kind, decided })]);
  }

  function recordGood({ opened }: SourceRunner, taken: TakenIn, hasNews: boolean): void {
    const row = view.sources.get(opened.id);
    const place = taken.missing === 0 ? opened.place : (row?.place ?? opened.place);
    if (!hasNews && row && !row.fault && row.place === place) return;
    const next = { ...row, id: opened.id, kind: opened.kind, place, lastGoodAt: clock.now(), fault: undefined };
    const message = 'The source can be read again.';
    const recovered = { kind: 'source.recovered', subject: `source/${opened.id}`, message };
    void registry.commit([put('sources', next), ...(row?.fault ? [journal.event(recovered)] : [])]);
  }

  function recordFailure(runner: SourceRunner, fault: Fault): void {
    const { opened, timing } = runner;
    const failures = timing.failures + 1;
    const message = registry.redact(fault.message);
    const remedy = registry.redact(fault.remedy);
    runner.timing = { ...timing, lastTriedAt: clock.now(), fault, failures };
    const retryMs = Math.min(jittered(opened.everyMs), retryDelayMs(fault, failures, random.next()));
    runner.nextPollMs = clock.monotonic() + Math.max(retryMs, fault.retryAfterMs ?? 0);
    runner.log('warn', 'source failed', { kind: fault.kind, error: message, remedy, failures });
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

  /** A source that cannot be read since the start keeps its pools: rival documents get their conflict now. */
  function applyToRivals({ opened }: SourceRunner): void {
    for (const { name } of [...view.pools.by('source', opened.id)]) {
      if (registry.parsedDocuments.named(name).length > 0) applyOwnership(name);
    }
  }

  /** Answers how to tell what came of it; nothing where this is no longer ours to read. */
  async function attempt(
    runner: SourceRunner,
    signal: AbortSignal,
  ): Promise<Pick<OutcomeCounter, 'outcome'> | undefined> {
    try {
      return await read(runner, takesTurn(runner), signal);
    } catch (thrown) {
      if (!isCurrent(runner) || signal.aborted) return undefined;
      const fault = Fault.from(thrown);
      recordFailure(runner, fault);
      if (runner.readTick === 0 && runner.timing.failures === 1) applyToRivals(runner);
      return { outcome: () => ({ ...NOTHING, fault }) };
    }
  }

  return async (id, signal) => {
    const runner = registry.runners.get(id);
    if (!runner) return undefined;
    const waiting = [...runner.waiting];
    runner.waiting.clear();
    const counter = await attempt(runner, signal);
    droppedPools.review();
    ended(id);
    runner.firstSync.resolve();
    if (counter) for (const tell of waiting) tell(counter.outcome());
    return isCurrent(runner) ? again(runner) : undefined;
  };
}
