import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '#core/clock.ts';

// File events wake us. Polling covers changes without an event, and machines that have run out of inotify watches.
const POLL_MS = 1_000;
const POLL_UNWATCHED_MS = 50;
const RETRY_MS = 1_000;

/** Calls `look` when something in that folder may have changed; the returned function ends it. */
export function watchFolder(path: string, clock: Clock, look: () => void): () => void {
  let watcher: FSWatcher | undefined;
  let cancelPoll = (): void => {};
  let isOver = false;

  function unwatch(): void {
    watcher?.close();
    watcher = undefined;
  }

  function poll(): void {
    look();
    // The callback may have ended the watch.
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

/**
 * Many calls before the next turn make one; so no caller is called back from within its own call. What fails is tried again
 * by itself, and not sooner for any call: on a full disk the attempt alone changes the folder, which calls again.
 */
export function gathered(clock: Clock, run: () => void, failed: (thrown: unknown) => void): () => void {
  let isWaiting = false;

  function attempt(): void {
    isWaiting = false;
    try {
      run();
    } catch (thrown) {
      isWaiting = true;
      clock.alarm(RETRY_MS, attempt);
      failed(thrown);
    }
  }

  return () => {
    if (isWaiting) return;
    isWaiting = true;
    clock.soon(attempt);
  };
}
