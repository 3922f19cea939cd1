/** What a server keeps by key for as long as it runs. */
export type Shared = <T>(key: string, make: () => T) => T;

/** Makes one thing for each key; a promise that is rejected is forgotten, and the next caller makes another. */
export function openShared(): Shared {
  const kept = new Map<string, unknown>();
  return <T>(key: string, make: () => T): T => {
    if (kept.has(key)) return kept.get(key) as T;
    const made = make();
    kept.set(key, made);
    if (made instanceof Promise) made.catch(() => kept.delete(key));
    return made;
  };
}
