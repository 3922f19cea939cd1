/**
 * A map whose keys come and go by the thousand a second. V8 chains each outgrown table of a `Map` to the next. One that
 * has grown old keeps all later ones alive until the next full collection, and each is copied twice until then. So the
 * map is replaced by a copy of itself before it grows old.
 */
export interface BriefMap<V> {
  get(key: string): V | undefined;
  has(key: string): boolean;
  set(key: string, value: V): void;
  delete(key: string): void;
}

// A copy costs less than that many deletions.
const DELETIONS = 128;

export function makeBriefMap<V>(): BriefMap<V> {
  let map = new Map<string, V>();
  let deletions = 0;
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    set: (key, value) => void map.set(key, value),
    delete(key) {
      if (!map.delete(key)) return;
      deletions += 1;
      if (deletions < DELETIONS || deletions < map.size) return;
      map = new Map(map);
      deletions = 0;
    },
  };
}
