// Reports the status of pools to the writers of their documents, through sources that support it.
import { Fault } from '#core/fault.ts';
import { type Again, type Loop, startLoop } from '#core/loop.ts';
import { type Pool, poolPhase } from '#core/pool.ts';
import { countPool, leastWorkers } from '#core/pool-counts.ts';
import { poolOfSubject } from '#core/reason.ts';
import { scalingAt } from '#core/schedule.ts';
import { openSlices } from '#core/slices.ts';
import { type DocumentReport, type DocumentState, documentId } from '#core/source.ts';
import { FLEET } from '#core/worker.ts';
import { isOwner } from './ownership.ts';
import { accountOf, type Registry, type SourceRunner, sourceLog } from './registry.ts';

// A report is one small call; one that hangs must not keep the others waiting.
const LONGEST_REPORT_MS = 30_000;
const LEAST_BETWEEN_MS = 1_000;
const REPORTS_AT_A_TIME = 8;
// Where so many fail in one pass, the others would too.
const MOST_FAILURES = 3;

/** What one opened source was sent, and what it may have to be sent now. */
interface Reporter {
  readonly runner: SourceRunner;
  /** By key: the last report that arrived, and when it was sent. */
  readonly sent: Map<string, { readonly text: string; readonly atMs: number }>;
  /** By key: the version of a deleted document whose writer knows that its pool is gone. */
  readonly gone: Map<string, string>;
  readonly sending: Set<string>;
  /** Keys to be reported again, though nothing of their report differs. */
  readonly repeated: Set<string>;
  /** Keys whose report may differ from the last one. */
  readonly changed: Set<string>;
  /** Keys that were reported a moment ago and have changed since, with the time to look again; soonest first. */
  readonly deferred: Map<string, number>;
  /** The pool that a document owns, or owned until its row was dropped. */
  readonly pools: Map<string, string>;
}

/** After a start everything is news. */
function openReporter({ deps }: Registry, runner: SourceRunner): Reporter {
  const { view } = deps.store;
  const { id: source } = runner.opened;
  const pools = new Map([...view.pools.by('source', source)].map(({ id, owner }) => [owner.key, id]));
  const documents = [...view.documents.by('source', source)].map(({ key }) => key);
  const changed = new Set([...documents, ...pools.keys()]);
  const repeated = new Set<string>();
  return {
    runner,
    sent: new Map(),
    gone: new Map(),
    sending: new Set(),
    repeated,
    changed,
    deferred: new Map(),
    pools,
  };
}

function poolReport({ deps, redact }: Registry, version: string, pool: Pool): DocumentReport {
  const counts = countPool(deps.store, pool.id);
  const { decision, lastAction, trouble, need } = deps.activityOf?.(pool.id) ?? {};
  const { removal, spec } = pool;
  const phase = poolPhase(pool);
  const least = phase === 'manual' ? 0 : leastWorkers(scalingAt(spec, deps.clock.now()).scaling);
  return {
    version,
    pool: pool.name,
    phase,
    counts,
    wanted: removal ? 0 : Math.max(least, need?.wanted ?? 0),
    returning: counts.workers.lost - Math.min(counts.workers.lost, need?.lost ?? 0),
    isPlanned: need !== undefined,
    frozen: frozenBy(deps, pool.id),
    decision: decision && { ...decision, why: redact(decision.why) },
    lastAction: lastAction && { ...lastAction, why: redact(lastAction.why) },
    trouble: trouble && { ...trouble, message: redact(trouble.message) },
    drain: removal && {
      sessions: counts.sessions.queued + counts.sessions.placed,
      deadlineAt: removal.deadlineAt,
    },
  };
}

function frozenBy({ store }: Registry['deps'], pool: string): DocumentReport['frozen'] {
  const { freezes } = store.view;
  const fleet = freezes.get(FLEET);
  const own = freezes.get(pool);
  return fleet ? { ...fleet, isFleet: true } : own && { ...own, isFleet: false };
}

/** Which document has the name that this one wants. */
function rivalOf(
  { parsedDocuments, poolNamed, runners }: Registry,
  { opened }: SourceRunner,
  { key, fault }: DocumentState,
): DocumentReport['takenBy'] {
  if (fault?.kind !== 'conflict') return undefined;
  const owner = poolNamed(parsedDocuments.get(opened.id, key)?.spec?.name ?? '')?.owner;
  return owner && { key: owner.key, isSameKind: runners.get(owner.source)?.opened.kind === opened.kind };
}

/** Of a document that the last listing has. */
function presentReport(registry: Registry, runner: SourceRunner, row: DocumentState): DocumentReport {
  const { version, fault, source, key } = row;
  const pool = row.pool === undefined ? undefined : registry.deps.store.view.pools.get(row.pool);
  if (!pool) return { version, phase: 'refused', fault, takenBy: rivalOf(registry, runner, row) };
  // A second definition of the name is not the fault of the first: only operators hear of both.
  const isInForce = isOwner(pool, { source, key }) && pool.owner.version === version;
  return { ...poolReport(registry, version, pool), fault: isInForce ? undefined : fault };
}

/** Nothing where the writer has never heard of this document from us, and does not wait. */
function reportFor(registry: Registry, reporter: Reporter, key: string): DocumentReport | 'gone' | undefined {
  const { view } = registry.deps.store;
  const { runner, gone, sent } = reporter;
  const source = runner.opened.id;
  const row = view.documents.get(documentId(source, key));
  if (row?.missed === 0) return presentReport(registry, runner, row);
  const pool = view.pools.get(reporter.pools.get(key) ?? '');
  const isOwned = pool?.owner.source === source && pool.owner.key === key;
  if (pool && isOwned) return poolReport(registry, pool.owner.version, pool);
  const deleted = runner.deleted.get(key)?.version;
  if (deleted !== undefined) return gone.get(key) === deleted ? undefined : 'gone';
  return sent.has(key) ? 'gone' : undefined;
}

/** What the last listing and the time have made due. */
function gatherChanged({ runner, gone, changed, deferred }: Reporter, nowMs: number): void {
  for (const key of gone.keys()) if (!runner.deleted.has(key)) gone.delete(key);
  for (const [key, { version }] of runner.deleted) if (gone.get(key) !== version) changed.add(key);
  for (const [key, dueMs] of deferred) {
    if (dueMs > nowMs) break;
    deferred.delete(key);
    changed.add(key);
  }
}

export interface Reports extends Pick<Loop, 'poke' | 'stop'>, Pick<Listening, 'poolChanged'> {
  /** Reports that document again, also where the writer knows all of it. */
  repeat(source: string, key: string): void;
}

/** Level-triggered: after a start everything is reported once, then only what differs from the last report. */
export function startReports(registry: Registry): Reports {
  const { clock, random, log, gate } = registry.deps;
  const reporters = new Map<SourceRunner, Reporter>();

  async function send({ opened, closed }: SourceRunner, key: string, report: DocumentReport | 'gone'): Promise<void> {
    const call = {
      account: accountOf(opened),
      owner: key,
      is: 'write',
      timeoutMs: LONGEST_REPORT_MS,
      signal: closed.signal,
    } as const;
    await gate.call({ ...call, name: 'report' }, async (signal) => opened.source.report?.(key, report, signal));
  }

  /** Sends the report of one document if it differs from the last one; one that has more to come waits its second. */
  async function bring(reporter: Reporter, key: string): Promise<void> {
    const { runner, sent, sending, gone, deferred, repeated } = reporter;
    const atMs = clock.monotonic();
    const last = sent.get(key);
    const report = reportFor(registry, reporter, key);
    const text = JSON.stringify(report);
    if (report === undefined || (last?.text === text && !repeated.has(key))) return;
    const isRecent = last !== undefined && atMs - last.atMs < LEAST_BETWEEN_MS;
    if (sending.has(key) || (isRecent && report !== 'gone')) {
      deferred.set(key, atMs + LEAST_BETWEEN_MS);
      return;
    }
    const deleted = runner.deleted.get(key)?.version;
    sending.add(key);
    repeated.delete(key);
    try {
      await send(runner, key, report);
    } finally {
      sending.delete(key);
    }
    if (report !== 'gone') {
      sent.set(key, { text, atMs });
      return;
    }
    sent.delete(key);
    reporter.pools.delete(key);
    if (deleted !== undefined) gone.set(key, deleted);
  }

  /** Takes keys until none is left, or too many have failed. */
  async function work(reporter: Reporter, failed: Map<string, Fault>): Promise<void> {
    const { runner, changed } = reporter;
    const slices = openSlices(clock);
    for (;;) {
      const [key] = changed;
      if (key === undefined || runner.closed.signal.aborted || failed.size >= MOST_FAILURES) return;
      changed.delete(key);
      try {
        await bring(reporter, key);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        failed.set(key, fault);
        const error = registry.redact(fault.message);
        runner.log('warn', 'cannot report status of a document', { document: key, error });
      }
      if (slices.isOver()) await slices.next();
    }
  }

  /** Of a source that has been read: before that, nothing of it is news. */
  function runnerOf(source: string): SourceRunner | undefined {
    const runner = registry.runners.get(source);
    return runner?.opened.source.report && runner.readTick > 0 ? runner : undefined;
  }

  function reporterOf(runner: SourceRunner): Reporter {
    const reporter = reporters.get(runner) ?? openReporter(registry, runner);
    if (!reporters.has(runner)) {
      for (const { runner: other } of reporters.values()) if (other.closed.signal.aborted) reporters.delete(other);
      reporters.set(runner, reporter);
    }
    return reporter;
  }

  async function reconcile(source: string): Promise<Again | undefined> {
    const runner = runnerOf(source);
    if (!runner) return undefined;
    const reporter = reporterOf(runner);
    gatherChanged(reporter, clock.monotonic());
    const failed = new Map<string, Fault>();
    await Promise.all(Array.from({ length: REPORTS_AT_A_TIME }, () => work(reporter, failed)));
    for (const key of failed.keys()) reporter.changed.add(key);
    const [fault] = failed.values();
    if (fault && !runner.closed.signal.aborted) throw fault;
    const [nextMs] = reporter.deferred.values();
    return nextMs === undefined ? undefined : { afterMs: Math.max(1, Math.ceil(nextMs - clock.monotonic())) };
  }

  const loop = startLoop({ name: 'source reports', clock, random, log: sourceLog(log), reconcile });
  const listening = listen(registry, {
    isAsleep: () => reporters.size === 0,
    changed(source, key, isLast) {
      const runner = runnerOf(source);
      const reporter = runner && reporters.get(runner);
      if (!reporter || (reporter.deferred.has(key) && !isLast)) return reporter;
      reporter.changed.add(key);
      loop.poke(source);
      return reporter;
    },
  });
  return {
    poke: loop.poke,
    poolChanged: listening.poolChanged,
    repeat(source, key) {
      const runner = runnerOf(source);
      if (!runner) return;
      const reporter = reporterOf(runner);
      reporter.repeated.add(key);
      reporter.changed.add(key);
      loop.poke(source);
    },
    async stop() {
      listening.stop();
      await loop.stop();
    },
  };
}

interface Listener {
  /** No source has been reported to yet: then nothing is heard, since workers and sessions change all the time. */
  isAsleep(): boolean;
  /** `isLast`: the pool is gone, and its writer waits for nothing else. */
  changed(source: string, key: string, isLast?: boolean): Reporter | undefined;
}

interface Listening {
  /** What a report shows of that pool beside its rows has changed. */
  poolChanged(id: string | undefined): void;
  stop(): void;
}

/** Hears of every change of rows that a report could show. */
function listen({ deps }: Registry, { isAsleep, changed }: Listener): Listening {
  const { store } = deps;
  const poolChanged = (id: string | undefined): void => {
    const owner = id === undefined || isAsleep() ? undefined : store.view.pools.get(id)?.owner;
    if (owner) changed(owner.source, owner.key);
  };
  const stops = [
    store.onChange('pools', (after, before) => {
      if (isAsleep()) return;
      if (before) changed(before.owner.source, before.owner.key, !after);
      if (after) changed(after.owner.source, after.owner.key)?.pools.set(after.owner.key, after.id);
    }),
    store.onChange('documents', (after, before) => {
      const row = after ?? before;
      if (row && !isAsleep()) changed(row.source, row.key);
    }),
    store.onChange('workers', (after, before) => poolChanged((after ?? before)?.pool)),
    store.onChange('agents', (after, before) => poolChanged((after ?? before)?.owner)),
    store.onChange('sessions', (after, before) => poolChanged((after ?? before)?.pool)),
    store.onChange('freezes', (_after, _before, id) => {
      if (id !== FLEET) return poolChanged(id);
      for (const pool of store.view.pools.all()) poolChanged(pool.id);
    }),
    // A decision that does nothing changes no row, and may still say something new.
    store.onDurable((changes) => {
      if (isAsleep()) return;
      for (const change of changes) {
        if ('append' in change && change.append === 'decisions') poolChanged(poolOfSubject(change.row.subject));
      }
    }),
  ];
  return {
    poolChanged,
    stop() {
      for (const stop of stops) stop();
    },
  };
}
