import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { LoadedConfig } from './load.ts';
import { changesNeedingRestart } from './restart.ts';
import { type FileWatch, systemFiles } from './watched-files.ts';

export interface WatchConfigOptions {
  readonly clock: Clock;
  /** What runs now. */
  readonly current: LoadedConfig;
  /** Reads everything again, whole, or throws a `Fault`. */
  load(): Promise<LoadedConfig>;
  /** A valid configuration is there that is new, or follows a bad one; `needRestart` names the keys that only a restart changes. */
  changed(next: LoadedConfig, needRestart: readonly string[]): void;
  /** The new file is bad: the old configuration stays. Told once for each new badness. */
  refused(fault: Fault): void;
  readonly files?: FileWatch;
}

export interface ConfigWatch {
  /** Reads again now, whether or not the files look changed: for SIGHUP. */
  poke(): void;
  stop(): void;
}

// Editors and Kubernetes change a file in several steps.
const SETTLE_MS = 250;
// Where the system cannot tell of changes (network file systems, exhausted inotify), looking is all that is left.
const POLL_MS = 15_000;

/** Watches the files of a configuration and hands out every new one that is wholly valid. */
export function watchConfig(options: WatchConfigOptions): ConfigWatch {
  const { clock, files = systemFiles } = options;
  let current = options.current;
  let seen = files.signature(current.files);
  let lastRefusal = '';
  let isRefused = false;
  let isStopped = false;
  let queue = Promise.resolve();
  let cancelSettle = (): void => {};
  let cancelPoll = (): void => {};
  let unwatch = files.watch(current.files, noticed);

  function noticed(): void {
    cancelSettle();
    cancelSettle = clock.alarm(SETTLE_MS, () => readIfChanged());
  }

  function readIfChanged(): void {
    if (files.signature(current.files) !== seen) read();
  }

  function poll(): void {
    cancelPoll = clock.alarm(POLL_MS, () => {
      readIfChanged();
      poll();
    });
  }

  function read(): void {
    queue = queue.then(async () => {
      if (isStopped) return;
      seen = files.signature(current.files);
      try {
        accept(await options.load());
      } catch (thrown) {
        refuse(Fault.from(thrown));
      }
    });
  }

  function accept(next: LoadedConfig): void {
    if (isStopped) return;
    const isMended = isRefused;
    lastRefusal = '';
    isRefused = false;
    if (next.version === current.version && !isMended) return;
    const needRestart = changesNeedingRestart(current.config, next.config);
    unwatch();
    current = next;
    seen = files.signature(current.files);
    unwatch = files.watch(current.files, noticed);
    options.changed(next, needRestart);
  }

  function refuse(fault: Fault): void {
    if (isStopped || fault.message === lastRefusal) return;
    lastRefusal = fault.message;
    isRefused = true;
    options.refused(fault);
  }

  poll();
  return {
    poke() {
      lastRefusal = '';
      read();
    },
    stop() {
      isStopped = true;
      cancelSettle();
      cancelPoll();
      unwatch();
    },
  };
}
