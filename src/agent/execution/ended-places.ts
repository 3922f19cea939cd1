import { statfsSync } from 'node:fs';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { SessionPlace } from '../tunnels/session-place.ts';

/** Files of an ended session can be copied for this long. */
export const KEEP_FILES_MS = 10 * 60_000;
const MOST_KEPT = 100;
const MOST_REMEMBERED = 1_000;
const LEAST_FREE = 0.1;

export interface EndedPlacesOptions {
  readonly workDir: string;
  readonly clock: Clock;
  /** Removes the files of a run. */
  remove(name: string): void;
  /** The part of the disk that is free, from 0 to 1. */
  freePart?(path: string): number;
}

interface Kept {
  place(): Promise<SessionPlace>;
  cancel(): void;
}

function freePartOf(path: string): number {
  const { bavail, blocks } = statfsSync(path);
  return blocks === 0 ? 1 : bavail / blocks;
}

/** Whether what is kept for convenience alone should make room. */
export const isNearlyFull = (path: string, freePart = freePartOf): boolean => freePart(path) < LEAST_FREE;

/** Keeps the folders of ended sessions for a while, so that results can be copied; fewer where the disk is nearly full. */
export function openEndedPlaces({ workDir, clock, remove, freePart }: EndedPlacesOptions) {
  const kept = new Map<string, Kept>();
  const goneAt = new Map<string, number>();

  function drop(name: string): void {
    kept.get(name)?.cancel();
    if (!kept.delete(name)) return;
    remove(name);
    goneAt.set(name, clock.now());
    if (goneAt.size > MOST_REMEMBERED) goneAt.delete(goneAt.keys().next().value as string);
  }

  function dropOldest(): boolean {
    const [oldest] = kept.keys();
    if (oldest !== undefined) drop(oldest);
    return oldest !== undefined;
  }

  return {
    add(name: string, place: Kept['place']): void {
      if (kept.size >= MOST_KEPT) dropOldest();
      kept.set(name, { place, cancel: clock.alarm(KEEP_FILES_MS, () => drop(name)) });
    },
    /** Where that run was; throws since when it is gone. */
    async find(name: string): Promise<SessionPlace> {
      const found = kept.get(name);
      if (found) return found.place();
      const since = goneAt.get(name);
      const when = since === undefined ? '' : ` since ${new Date(since).toISOString()}`;
      throw new Fault('missing', `The files of the session are gone from its worker${when}.`, {
        remedy: `A worker keeps them for at most ${KEEP_FILES_MS / 60_000} minutes after the end: copy them before.`,
      });
    },
    has: (name: string): boolean => kept.has(name),
    /** Before a session needs room. */
    makeRoom(): void {
      // Removal goes on in the background, so the free part does not grow at once: all go, not just enough.
      if (kept.size > 0 && isNearlyFull(workDir, freePart)) while (dropOldest());
    },
    dropAll(): void {
      while (dropOldest());
    },
  };
}
