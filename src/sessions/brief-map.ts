// A copy costs less than that many deletions.
const DELETIONS = 128;

/**
 * A map whose keys come and go by the thousand a second. V8 chains each outgrown table of a `Map` to the next. One that
 * has grown old keeps all later ones alive until the next full collection, and each is copied twice until then. So the
 * map is replaced by a copy of itself before it grows old.
 */
export class BriefMap<V> {
  #map = new Map<string, V>();
  #deletions = 0;

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  has(key: string): boolean {
    return this.#map.has(key);
  }

  set(key: string, value: V): void {
    this.#map.set(key, value);
  }

  delete(key: string): void {
    if (!this.#map.delete(key)) return;
    this.#deletions += 1;
    if (this.#deletions < DELETIONS || this.#deletions < this.#map.size) return;
    this.#map = new Map(this.#map);
    this.#deletions = 0;
  }
}
