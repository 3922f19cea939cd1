// When pools without a definition may be removed: the guards against incomplete listings.
//
// A pool is dropped when two good listings in a row of its owner lack its definition, or when its owner is no longer
// configured. A dropped pool that another document defines moves there, and is never held. All others are removed
// together, source by source, as soon as
//  1. every other configured source has given a good listing that was begun after the drop, and so does not define them;
//     a source that has not is read at once. After a start that means every source, so that the order of the first listings
//     does not matter. One that cannot be read holds the removal: a migration may have gone wrong just there.
//  2. the source is still configured, and reads the place that it read when all of its pools were there;
//  3. they are not more than half of its pools (of four or more), nor all of several with an empty listing.
// 2 and 3 do not hold for a source whose documents come from its configuration alone.
// What is held goes when it is approved. When the reason for holding ends by itself, all sources are read once more.
import type { Pool } from '#core/pool.ts';
import type { Registry, SourceRunner } from './registry.ts';

/** `wait`: the answer comes by itself soon. `hold`: only an approval or another listing can tell. */
export type RemovalVerdict =
  | { readonly do: 'remove' }
  | { readonly do: 'wait'; readonly ask: readonly SourceRunner[] }
  | { readonly do: 'hold'; readonly why: string };

// Below this, half of the pools is one or two, and people do remove one or two.
const FEWEST_FOR_HALF = 4;

const quoted = (runners: readonly SourceRunner[]): string => runners.map(({ opened }) => `"${opened.id}"`).join(', ');

function vanished({ runners }: Registry): RemovalVerdict {
  const unasked = [...runners.values()].filter(({ readTick, timing }) => readTick === 0 && timing.failures === 0);
  if (unasked.length > 0) return { do: 'wait', ask: [] };
  return {
    do: 'hold',
    why: 'The configuration no longer has this source. Its pools stay until the source returns, another source defines them, or someone approves their removal.',
  };
}

/** All pools that a source dropped, and what must have been read since. */
export interface Dropped {
  readonly pools: readonly Pool[];
  readonly sinceTick: number;
  readonly isOwnerAsked: boolean;
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

function massRemoval({ deps, parsedDocuments }: Registry, runner: SourceRunner, dropped: number): string | undefined {
  if (runner.opened.source.isDefinite) return undefined;
  const source = runner.opened.id;
  const living = [...deps.store.view.pools.by('source', source)].filter(({ removal }) => !removal).length;
  const place = deps.store.view.sources.get(source)?.place;
  if (place !== undefined && runner.opened.place !== undefined && place !== runner.opened.place) {
    return `The source now reads ${runner.opened.place} instead of ${place}, and ${dropped} of its ${living} pools are not there.`;
  }
  if (living >= FEWEST_FOR_HALF && dropped * 2 > living) {
    return `The last listings lack ${dropped} of the ${living} pools of this source.`;
  }
  // An empty answer of a source that had several is more often a wrong path or lost rights than a wish.
  if (living > 1 && dropped === living && parsedDocuments.of(source).size === 0) {
    return `The last listings are empty; this source had ${living} pools.`;
  }
  return undefined;
}

/** What is to be done about them. */
export function judgeRemoval(registry: Registry, source: string, dropped: Dropped): RemovalVerdict {
  const runner = registry.runners.get(source);
  if (!runner) return vanished(registry);
  const others = awaitOthers(registry, source, dropped);
  if (others) return others;
  const why = massRemoval(registry, runner, dropped.pools.length);
  return why === undefined ? { do: 'remove' } : { do: 'hold', why };
}
