import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '#core/clock.ts';

// Changes wake us; polling is for what no change tells, and for machines that have run out of watches.
const POLL_MS = 1_000;
const POLL_UNWATCHED_MS = 50;

/** Calls `look` when something in that folder may have changed; the returned function ends it. */
export function follow(path: string, clock: Clock, look: () => void): () => void {
  let watcher: FSWatcher | undefined;
  let cancelPoll = (): void => {};
  let isOver = false;

  function unwatch(): void {
    watcher?.close();
    watcher = undefined;
  }

  function poll(): void {
    look();
    // The look may have been the last.
    if (!isOver) cancelPoll = clock.alarm(watcher ? POLL_MS : POLL_UNWATCHED_MS, poll);
  }

  try {
    watcher = watch(path, { persistent: false }, look);
    watcher.on('error', unwatch);
  } catch {
    watcher = undefined;
  }
  poll();
  return () => {
    isOver = true;
    cancelPoll();
    unwatch();
  };
}

/** Many calls before the next turn make one; so nobody is called back from within his own call. */
export function gathered(clock: Clock, run: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    clock.soon(() => {
      isWaiting = false;
      run();
    });
  };
}
