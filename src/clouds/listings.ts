import type { Clock } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log, LogFields } from '#core/log.ts';
import { type Again, startLoop } from '#core/loop.ts';
import type { Machine } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Listing } from './listing.ts';

export interface ListingsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Machines with the mark of another cluster are left out of every listing. */
  readonly cluster: string;
  list(cloud: string, signal: AbortSignal): Promise<readonly Machine[]>;
  everyMs(cloud: string): number;
  /** The shortest time between two listings on demand, where the cloud has one of its own. */
  leastGapMs?(cloud: string): number | undefined;
  /** What the log calls that cloud. */
  logged?(cloud: string): LogFields;
  heard(listing: Listing): void;
  /** It could not be listed, for another reason than last time. */
  failed(cloud: string): void;
}

/** The last good listing of each cloud, renewed at its interval and on demand. */
export interface Listings {
  last(cloud: string): Listing | undefined;
  /** Why the last attempt failed, where it did. */
  fault(cloud: string): Fault | undefined;
  /** Lists soon; many askers make one listing. */
  refresh(cloud: string): void;
  /**
   * As `refresh`, because the cloud itself gave a sign: after a failure it is listed again soon, without waiting for the
   * end of the back-off, unless the cloud said when to ask again.
   */
  hinted(cloud: string): void;
  /** Lists soon where the interval that it waits for is longer than this. */
  atLeastEvery(cloud: string, everyMs: number): void;
  forget(cloud: string): void;
  stop(): Promise<void>;
}

// Limits listings on demand: this interval, and at most a fifth of the time.
const LEAST_GAP_MS = 2_000;
const GAP_FACTOR = 5;

interface Kept {
  last?: Listing;
  /** What the cloud answered then, and what of it was left out. */
  answer?: { readonly machines: readonly Machine[]; readonly foreign: number; readonly duplicate: number };
  fault?: Fault;
  /** There was a sign of the cloud since the last one started. */
  isHinted: boolean;
  startedMs: number;
  tookMs: number;
  /** The interval that the next one waits for. */
  everyMs: number;
}

export function startListings(deps: ListingsDeps): Listings {
  const { clock, random, log } = deps;
  const clouds = new Map<string, Kept>();
  const loop = startLoop({
    name: 'listings',
    clock,
    random,
    log,
    reconcile: pass,
    ...(deps.logged && { logged: deps.logged }),
    // Wide, since each pass waits for its own cloud alone and one that hangs must not keep another waiting;
    // bounded, since ten thousand kinds that list by starting a process would start them all at once.
    concurrency: 256,
    failed(cloud, fault) {
      const kept = clouds.get(cloud);
      if (!kept) return;
      const isNew = kept.fault?.message !== fault.message;
      kept.fault = fault;
      if (isNew) deps.failed(cloud);
    },
  });

  async function pass(cloud: string, signal: AbortSignal): Promise<Again | undefined> {
    const kept = clouds.get(cloud);
    if (!kept) return undefined;
    const leastMs = deps.leastGapMs?.(cloud) ?? LEAST_GAP_MS;
    const gapMs = Math.max(leastMs, GAP_FACTOR * kept.tookMs) - (clock.monotonic() - kept.startedMs);
    // After a failure the loop's own back-off decides, apart from hints: a cloud that gives many must not be listed as often.
    if (gapMs > 0 && (!kept.fault || kept.isHinted)) return { afterMs: Math.ceil(gapMs), isUntried: true };
    kept.isHinted = false;
    kept.startedMs = clock.monotonic();
    const machines = await deps.list(cloud, signal);
    if (clouds.get(cloud) !== kept) return undefined;
    kept.tookMs = clock.monotonic() - kept.startedMs;
    delete kept.fault;
    kept.last = renewed(cloud, kept, machines);
    deps.heard(kept.last);
    kept.everyMs = deps.everyMs(cloud);
    return { afterMs: kept.everyMs };
  }

  function renewed(cloud: string, kept: Kept, machines: readonly Machine[]): Listing {
    const { last, startedMs } = kept;
    const isSame = last !== undefined && areSame(kept.answer?.machines, machines);
    const byName = isSame ? last.machines : taken(kept, machines);
    const { foreign, duplicate } = kept.answer as NonNullable<Kept['answer']>;
    if (foreign + duplicate > 0)
      log('warn', 'listing has foreign or duplicate machines', { cloud, foreign, duplicate });
    return {
      cloud,
      startedMs,
      endedAt: clock.now(),
      machines: byName,
      count: (last?.count ?? 0) + 1,
      before: last && { startedMs: last.startedMs, machines: last.machines },
    };
  }

  function taken(kept: Kept, machines: readonly Machine[]): Map<string, Machine> {
    const byName = new Map<string, Machine>();
    let foreign = 0;
    for (const machine of machines) {
      if (machine.mark && machine.mark.cluster !== deps.cluster) foreign += 1;
      else byName.set(machine.name, machine);
    }
    kept.answer = { machines, foreign, duplicate: machines.length - foreign - byName.size };
    return byName;
  }

  function refresh(cloud: string): void {
    if (!clouds.has(cloud))
      clouds.set(cloud, { startedMs: Number.NEGATIVE_INFINITY, tookMs: 0, everyMs: 0, isHinted: false });
    // After a failure it tries again by itself, less and less often.
    if (!clouds.get(cloud)?.fault) loop.poke(cloud);
  }

  return {
    last: (cloud) => clouds.get(cloud)?.last,
    fault: (cloud) => clouds.get(cloud)?.fault,
    refresh,
    hinted(cloud) {
      const kept = clouds.get(cloud);
      if (!kept?.fault) return refresh(cloud);
      const { kind, retryAfterMs } = kept.fault;
      if (retryAfterMs !== undefined || kind === 'throttled') return;
      kept.isHinted = true;
      loop.poke(cloud);
    },
    atLeastEvery(cloud, everyMs) {
      if (everyMs < (clouds.get(cloud)?.everyMs ?? 0)) loop.poke(cloud);
    },
    forget(cloud) {
      clouds.delete(cloud);
      loop.forget(cloud);
    },
    stop: () => loop.stop(),
  };
}

/** A backend that keeps what it knows answers with the very same machines: then the listing before is shared. */
function areSame(some: readonly Machine[] | undefined, others: readonly Machine[]): boolean {
  if (some === others) return true;
  return some !== undefined && some.length === others.length && some.every((machine, at) => machine === others[at]);
}
