// Opens, replaces and closes the configured sources.
import { withDeadline } from '#clouds/deadline.ts';
import { Fault } from '#core/fault.ts';
import { withFields } from '#core/log.ts';
import type { PriceTrust } from '#core/machine-price.ts';
import { API_SOURCE } from '#core/source.ts';
import { drop, put } from '#core/store.ts';
import type { ApplyOwnership } from './apply-ownership.ts';
import type { DroppedPools } from './dropped-pools.ts';
import { isSame } from './equal-data.ts';
import { accountOf, type OpenedSource, type Registry, type SourceRunner } from './registry.ts';

export interface RunnerParts {
  readonly applyOwnership: ApplyOwnership;
  readonly droppedPools: DroppedPools;
  /** Reads a source soon. */
  readonly poke: (source: string) => void;
}

function makeRunner({ deps }: Registry, opened: OpenedSource): SourceRunner {
  const closed = new AbortController();
  const firstSync = Promise.withResolvers<void>();
  closed.signal.addEventListener('abort', () => firstSync.resolve(), { once: true });
  return {
    opened,
    log: withFields(deps.log, { provisioner: opened.id }),
    closed,
    timing: { everyMs: opened.everyMs, failures: 0 },
    firstSync,
    readTick: 0,
    nextPollMs: deps.clock.monotonic(),
    isAsked: false,
    waiting: new Set(),
    staleNames: new Set(),
    renamedAway: new Map(),
    deleted: new Map(),
  };
}

const rulesOf = ({ trust, allow, place, kind, mayName }: OpenedSource) => ({ trust, allow, place, kind, mayName });

function mustBeDistinct(sources: readonly OpenedSource[]): void {
  const seen = new Set<string>([API_SOURCE]);
  for (const { id } of sources) {
    if (seen.has(id)) {
      const remedy =
        id === API_SOURCE ? 'Give it another name; "api" is reserved.' : 'Give one of them a `name:` of its own.';
      throw new Fault('invalid', `Two sources are called "${id}".`, { at: 'provisioners', remedy });
    }
    seen.add(id);
  }
}

// A source that cannot be closed must not keep the server from stopping.
const LONGEST_CLOSE_MS = 5_000;

/** Ends its calls and lets it free what it holds. */
export async function closeSource({ deps }: Registry, { opened, closed, log }: SourceRunner): Promise<void> {
  closed.abort();
  const { source } = opened;
  if (!source.close) return;
  const what = `close of source ${opened.id}`;
  const signal = new AbortController().signal;
  const deadline = {
    what,
    clock: deps.clock,
    timeoutMs: LONGEST_CLOSE_MS,
    signal,
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
  };
  try {
    await withDeadline(deadline, async () => source.close?.());
  } catch (thrown) {
    log('warn', 'cannot close source', { error: Fault.from(thrown).message });
  }
}

function priceTrustOf({ trust, allow }: OpenedSource): PriceTrust | undefined {
  if (trust === 'operator') return 'stated';
  return allow?.prices ? 'where the cloud has none' : undefined;
}

export function makeSetSources(registry: Registry, parts: RunnerParts): (sources: readonly OpenedSource[]) => void {
  const { runners, parsedDocuments, deps } = registry;
  const { view } = deps.store;

  /** With the same source and rules, only its interval may have changed: nothing need be read again. */
  function keep(runner: SourceRunner, opened: OpenedSource): boolean {
    if (runner.opened.source !== opened.source || !isSame(rulesOf(runner.opened), rulesOf(opened))) return false;
    const isIntervalNew = runner.opened.everyMs !== opened.everyMs;
    runner.opened = opened;
    runner.timing = { ...runner.timing, everyMs: opened.everyMs };
    if (isIntervalNew) {
      runner.nextPollMs = Math.min(runner.nextPollMs, deps.clock.monotonic() + opened.everyMs);
      parts.poke(opened.id);
    }
    return true;
  }

  function open(opened: OpenedSource): SourceRunner {
    const runner = makeRunner(registry, opened);
    for (const name of parsedDocuments.forget(opened.id)) runner.staleNames.add(name);
    for (const pool of view.pools.by('source', opened.id)) parts.droppedPools.clear(pool);
    const row = view.sources.get(opened.id);
    const [{ id, kind }, prices] = [opened, priceTrustOf(opened)];
    if (row?.kind !== kind || row.prices !== prices)
      void registry.commit([put('sources', { ...row, id, kind, prices })]);
    runner.closed.signal.addEventListener('abort', deps.gate.enter(accountOf(opened), opened.limits), { once: true });
    try {
      opened.source.watch?.(() => parts.poke(opened.id), runner.closed.signal);
    } catch (thrown) {
      runner.log('warn', 'cannot watch source', { error: Fault.from(thrown).message });
    }
    return runner;
  }

  /** The documents of a source that is gone say nothing any more; its pools are held, unless someone else wants them. */
  function close(source: string): void {
    const names = new Set(parsedDocuments.forget(source));
    for (const { name } of view.pools.by('source', source)) names.add(name);
    const idle = [...view.documents.by('source', source)].filter(({ pool }) => pool === undefined);
    if (idle.length > 0) void registry.commit(idle.map(({ id }) => drop('documents', id)));
    for (const name of names) parts.applyOwnership(name);
  }

  /** The same instance may go on under other rules; then it is not closed. */
  function end(runner: SourceRunner, next?: OpenedSource): void {
    if (runner.opened.source === next?.source) runner.closed.abort();
    else void closeSource(registry, runner);
  }

  function place(opened: OpenedSource, known: SourceRunner | undefined): void {
    const isKept = known && keep(known, opened);
    if (known && !isKept) end(known, opened);
    const runner = isKept ? known : open(opened);
    runners.set(opened.id, runner);
    if (runner.readTick === 0) parts.poke(opened.id);
  }

  return (sources) => {
    mustBeDistinct(sources);
    const before = new Map(runners);
    runners.clear();
    for (const opened of sources) place(opened, before.get(opened.id));
    for (const [id, runner] of before) {
      if (!runners.has(id)) end(runner);
    }
    const vanished = [...view.sources.all()].filter(({ id }) => !runners.has(id));
    for (const { id } of vanished) close(id);
    parts.droppedPools.review();
  };
}
