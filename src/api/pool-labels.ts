import type { Store } from '#core/store.ts';
import { stopAll } from './noun.ts';

/** Pools with series of their own; each has some thirty. */
export const MOST_POOL_LABELS = 200;

/** Stands for all other pools. */
export const OTHER_POOLS = 'other';

/**
 * Which pools have counters and histograms of their own. A label is given once and kept while its pool exists, so that a
 * counter never falls: with at most 200 pools to each; with more, to those that first start or run something.
 */
export interface PoolLabels {
  /** For a pool that starts or runs something. */
  ofActive(name: string): string;
  /** For a pool that only decides to do nothing. */
  ofIdle(name: string): string;
  /** The names that gauges show: those with a label, then others by name. */
  shown(): ReadonlySet<string>;
  stop(): void;
}

/** `released` drops the series of a removed pool when another pool needs its label. */
export function openPoolLabels({ view, onChange }: Store, released: (name: string) => void): PoolLabels {
  const labelled = new Set<string>();
  // A pool that is defined again goes on counting, unless its label was needed meanwhile.
  const removed = new Set<string>();

  function take(name: string): string {
    if (labelled.size >= MOST_POOL_LABELS && removed.size === 0) return OTHER_POOLS;
    // A pool of that very name has no label, which would be released with it.
    if (name === OTHER_POOLS || view.pools.count('name', name) === 0) return OTHER_POOLS;
    if (labelled.size >= MOST_POOL_LABELS) {
      const [oldest = ''] = removed;
      removed.delete(oldest);
      labelled.delete(oldest);
      released(oldest);
    }
    labelled.add(name);
    return name;
  }

  const ofActive = (name: string): string => (labelled.has(name) ? name : take(name));

  return {
    ofActive,
    ofIdle: (name) => (labelled.has(name) || view.pools.size <= MOST_POOL_LABELS ? ofActive(name) : OTHER_POOLS),
    shown() {
      const living = [...view.pools.all()].map(({ name }) => name);
      const [own, rest] = [living.filter((name) => labelled.has(name)), living.filter((name) => !labelled.has(name))];
      const room = MOST_POOL_LABELS - own.length;
      return new Set([...own, ...(rest.length > room ? rest.toSorted() : rest).slice(0, room)]);
    },
    stop: stopAll([
      onChange('pools', (after, before) => {
        if (after && !before) removed.delete(after.name);
        if (!after && before && labelled.has(before.name)) removed.add(before.name);
      }),
    ]),
  };
}
