// When pools without a definition may be removed: the guards against incomplete listings.
//
// A pool is dropped when two good listings in a row of its owner lack its definition, or when its owner is no longer
// configured. A dropped pool that another document defines moves there, and is never held. All others are removed
// together, source by source, as soon as
//  1. every other configured source has given a good listing that was begun after the drop, and so does not define them;
//     a source that has not is read at once. After a start that means every source, so that the order of the first listings
//     does not matter. One that cannot be read holds the removal: a migration may have gone wrong just there.
//  2. the source is still configured, and reads the place that it read when all of its pools were there;
//  3. they are not more than half of its pools (of four or more), nor all of several with an empty listing. What the
//     source dropped within an hour counts as dropped at once: a listing that fails bit by bit empties no source.
// 2 and 3 do not hold for a source whose documents come from its configuration alone.
// What is held goes when it is approved, and until then its pools go on as they are defined. What is dropped later is
// judged apart from it. When the reason for holding ends by itself, all sources are read once more.
import { HOUR_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import type { SourceState } from '#core/source.ts';
import type { Registry, SourceRunner } from './registry.ts';

/** `wait`: the answer comes by itself soon. `hold`: only an approval or another listing can tell. */
export type RemovalVerdict =
  | { readonly do: 'remove' }
  | { readonly do: 'wait'; readonly ask: readonly SourceRunner[] }
  | { readonly do: 'hold'; readonly why: string };

// Below this, half of the pools is one or two, and people do remove one or two.
const FEWEST_FOR_HALF = 4;

/** Removals within this time count as one. */
const ADD_UP_MS = HOUR_MS;

const quoted = (runners: readonly SourceRunner[]): string => runners.map(({ opened }) => `"${opened.id}"`).join(', ');

function vanished({ runners }: Registry): RemovalVerdict {
  const unasked = [...runners.values()].filter(({ readTick, timing }) => readTick === 0 && timing.failures === 0);
  if (unasked.length > 0) return { do: 'wait', ask: [] };
  return {
    do: 'hold',
    why: 'The configuration no longer has this source. Its pools stay until the source returns, another source defines them, or someone approves their removal.',
  };
}

/** Pools of a source that are judged together, and what must have been read since they were dropped. */
export interface Dropped {
  readonly pools: readonly Pool[];
  readonly sinceTick: number;
  readonly isOwnerAsked: boolean;
  /** Whether these are the pools that are held. */
  readonly isHeld: boolean;
  /** How many others of the source are held. */
  readonly heldApart: number;
}

/** A pool may have moved: every other source must have been read since, and not define it. */
function awaitOthers(
  { runners }: Registry,
  source: string,
  { sinceTick, isOwnerAsked }: Dropped,
): RemovalVerdict | undefined {
  const unread = [...runners.values()].filter(
    ({ opened, readTick }) => readTick <= sinceTick && (isOwnerAsked || opened.id !== source),
  );
  if (unread.length === 0) return undefined;
  const failing = unread.filter(({ timing }) => timing.failures > 0);
  if (failing.length === 0) return { do: 'wait', ask: unread };
  return {
    do: 'hold',
    why: `Source ${quoted(failing)} cannot be read. These pools may be defined there now.`,
  };
}

/** What a source has removed, without what is too old to count; while pools are held, what counted then stays. */
export function recentRemovals(row: SourceState | undefined, nowMs: number): NonNullable<SourceState['removed']> {
  const sinceMs = Math.min(nowMs, row?.held?.at ?? nowMs) - ADD_UP_MS;
  return (row?.removed ?? []).filter(({ at }) => at > sinceMs);
}

/** How many pools the source removed within the hour, and that nobody has defined again. */
function countRemoved({ deps, poolNamed }: Registry, source: string, isHeld: boolean): number {
  const row = deps.store.view.sources.get(source);
  const nowMs = deps.clock.now();
  const recent = recentRemovals(row, nowMs).filter(({ at }) => isHeld || at > nowMs - ADD_UP_MS);
  const isGone = (name: string): boolean => poolNamed(name)?.removal !== undefined || !poolNamed(name);
  return new Set(recent.flatMap(({ pools }) => pools).filter(isGone)).size;
}

function massRemoval(
  registry: Registry,
  runner: SourceRunner,
  { pools: { length: dropped }, isHeld, heldApart }: Dropped,
): string | undefined {
  const { deps, parsedDocuments } = registry;
  if (runner.opened.source.isDefinite) return undefined;
  const source = runner.opened.id;
  const living = [...deps.store.view.pools.by('source', source)].filter(({ removal }) => !removal).length - heldApart;
  const others = heldApart > 0 ? ' other' : '';
  const place = deps.store.view.sources.get(source)?.place;
  if (place !== undefined && runner.opened.place !== undefined && place !== runner.opened.place) {
    return `The source now reads ${runner.opened.place} instead of ${place}, and ${dropped} of its ${living}${others} pools are not there.`;
  }
  const removed = countRemoved(registry, source, isHeld);
  const [gone, all] = [dropped + removed, living + removed];
  const before = removed > 0 ? `, and ${removed} more were removed within the last hour` : '';
  if (all >= FEWEST_FOR_HALF && gone * 2 > all) {
    return `The last listings lack ${dropped} of the ${living}${others} pools of this source${before}.`;
  }
  // An empty answer of a source that had several is more often a wrong path or lost rights than a wish.
  if (all > 1 && gone === all && parsedDocuments.of(source).size === 0) {
    return `The last listings are empty; this source had ${living}${others} pools${before}.`;
  }
  return undefined;
}

/** What is to be done about them. */
export function judgeRemoval(registry: Registry, source: string, dropped: Dropped): RemovalVerdict {
  const runner = registry.runners.get(source);
  if (!runner) return vanished(registry);
  const others = awaitOthers(registry, source, dropped);
  if (others) return others;
  const why = massRemoval(registry, runner, dropped);
  return why === undefined ? { do: 'remove' } : { do: 'hold', why };
}
