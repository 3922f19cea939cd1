import { watch } from 'node:fs';
import type { Clock } from '#core/clock.ts';

/** Tells what changed below a folder, until it breaks; the returned function ends it. Throws where the folder cannot be watched. */
export type WatchFolder = (path: string, report: { changed(name: string): void; broken(): void }) => () => void;

export const systemWatch: WatchFolder = (path, { changed, broken }) => {
  const watcher = watch(path, { recursive: true, persistent: false }, (_event, name) => changed(name ?? ''));
  watcher.on('error', broken);
  return () => watcher.close();
};

// One save is several events: a new file, a write, a rename.
const CALM_MS = 100;
const RETRY_MS = 10_000;

/** Swap and backup files of editors. Kubernetes swaps whole volumes by the link `..data`, so two dots are news. */
const isScratch = (name: string): boolean => /(^|\/)(\.(?!\.)[^/]*|[#~][^/]*|[^/]*(~|\.swp|\.swx|\.tmp))$/.test(name);

export interface TreeWatch {
  readonly path: string;
  readonly clock: Clock;
  readonly watchFolder: WatchFolder;
  changed(): void;
}

/** Hints at changes below a path; where it cannot be watched, tries again later, since it may come to be. */
export function watchTree({ path, clock, watchFolder, changed }: TreeWatch, signal: AbortSignal): void {
  let cancelHint: (() => void) | undefined;
  let cancelRetry = (): void => {};
  let end = (): void => {};

  function hint(): void {
    cancelHint ??= clock.alarm(CALM_MS, () => {
      cancelHint = undefined;
      changed();
    });
  }

  function retryLater(): void {
    end();
    end = () => {};
    cancelRetry();
    cancelRetry = clock.alarm(RETRY_MS, () => {
      // Changes without a watch are unknown.
      if (start()) hint();
    });
  }

  function start(): boolean {
    try {
      end = watchFolder(path, {
        changed: (name) => {
          if (!isScratch(name)) hint();
        },
        broken: retryLater,
      });
      return true;
    } catch {
      retryLater();
      return false;
    }
  }

  if (signal.aborted) return;
  signal.addEventListener(
    'abort',
    () => {
      end();
      cancelRetry();
      cancelHint?.();
    },
    { once: true },
  );
  start();
}
