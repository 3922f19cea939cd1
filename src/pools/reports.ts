// Tells sources that want to know how the pools of their documents are doing.
import { Fault } from '#core/fault.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { poolPhase } from '#core/pool.ts';
import { inSlices } from '#core/slices.ts';
import type { DocumentReport, DocumentState } from '#core/source.ts';
import { type Registry, type SourceRunner, sourceLog } from './registry.ts';

// A status is one small call; one that hangs must not keep the others from being told.
const LONGEST_REPORT_MS = 30_000;
// Where so many fail in a row, the others would too.
const MOST_FAILURES = 3;

type Told = Map<string, string>;
type Change = readonly [key: string, report: DocumentReport | 'gone'];

/** Level-triggered: after a start all is told once, then what differs from what was told last. */
export function startReports(registry: Registry): Loop {
  const { store, clock, random, log } = registry.deps;
  const { view } = store;
  const toldBy = new WeakMap<SourceRunner, Told>();

  function reportOf({ version, pool: id, fault }: DocumentState): DocumentReport {
    const pool = id === undefined ? undefined : view.pools.get(id);
    return { version, pool: pool?.name, phase: pool ? poolPhase(pool) : 'refused', fault };
  }

  /** All documents, and those whose pool still drains after they have gone. */
  async function reportsOf(source: string): Promise<Map<string, DocumentReport>> {
    const reports = new Map<string, DocumentReport>();
    await inSlices(clock, [...view.pools.by('source', source)], (pool) => {
      const { key, version } = pool.owner;
      reports.set(key, { version, pool: pool.name, phase: poolPhase(pool) });
    });
    await inSlices(clock, [...view.documents.by('source', source)], (row) => {
      if (row.missed === 0) reports.set(row.key, reportOf(row));
    });
    return reports;
  }

  function changesOf(told: Told, reports: ReadonlyMap<string, DocumentReport>): readonly Change[] {
    const news = [...reports].filter(([key, report]) => told.get(key) !== JSON.stringify(report));
    const gone = [...told.keys()].filter((key) => !reports.has(key));
    return [...news, ...gone.map((key): Change => [key, 'gone'])];
  }

  async function tell(runner: SourceRunner, key: string, report: DocumentReport | 'gone'): Promise<void> {
    const late = new AbortController();
    const cancelAlarm = clock.alarm(LONGEST_REPORT_MS, () => late.abort());
    const ended = AbortSignal.any([late.signal, runner.closed.signal]);
    try {
      const givenUp = new Promise<never>((_resolve, reject) => {
        ended.addEventListener('abort', () => reject(new Fault('unavailable', 'The source did not answer in time.')));
      });
      await Promise.race([runner.opened.source.report?.(key, report, ended), givenUp]);
    } finally {
      cancelAlarm();
    }
  }

  /** Answers why the first failure was one. */
  async function tellAll(runner: SourceRunner, told: Told, changes: readonly Change[]): Promise<Fault | undefined> {
    const faults: Fault[] = [];
    for (const [key, report] of changes) {
      if (runner.closed.signal.aborted || faults.length >= MOST_FAILURES) break;
      try {
        await tell(runner, key, report);
        if (report === 'gone') told.delete(key);
        else told.set(key, JSON.stringify(report));
      } catch (thrown) {
        const fault = Fault.from(thrown);
        faults.push(fault);
        runner.log('warn', 'status of a document not told', { document: key, error: registry.redact(fault.message) });
      }
    }
    return faults[0];
  }

  async function reconcile(source: string): Promise<void> {
    const runner = registry.runners.get(source);
    if (!runner?.opened.source.report || runner.readTick === 0) return;
    const told: Told = toldBy.get(runner) ?? new Map();
    toldBy.set(runner, told);
    const changes = changesOf(told, await reportsOf(source));
    if (changes.length > 0) await store.durable();
    const fault = await tellAll(runner, told, changes);
    if (fault && !runner.closed.signal.aborted) throw fault;
  }

  const loop = startLoop({ name: 'source reports', clock, random, log: sourceLog(log), reconcile });
  const stopListening = store.onChange('pools', (after, before) => {
    for (const pool of [after, before]) {
      if (pool && registry.runners.get(pool.owner.source)?.opened.source.report) loop.poke(pool.owner.source);
    }
  });
  return {
    ...loop,
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}
