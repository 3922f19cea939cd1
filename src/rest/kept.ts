import type { Clock } from '#core/clock.ts';

/** What was read under that key at most so long ago, or is read now. */
export type Keep = <T>(key: string, holdsMs: number, read: () => Promise<T>) => Promise<T>;

/** For what changes seldom: the newest image of a family, the names that a cloud knows. */
export function openKept(clock: Clock): Keep {
  const kept = new Map<string, { readonly atMs: number; readonly value: unknown }>();
  return async <T>(key: string, holdsMs: number, read: () => Promise<T>): Promise<T> => {
    const known = kept.get(key);
    if (known && clock.monotonic() - known.atMs < holdsMs) return known.value as T;
    const value = await read();
    kept.set(key, { atMs: clock.monotonic(), value });
    return value;
  };
}
