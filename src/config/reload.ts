import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import type { LoadedConfig } from './load.ts';
import { problemsFault } from './problem.ts';
import { changesNeedingRestart } from './restart.ts';
import { type FileWatch, systemFiles } from './watched-files.ts';

export interface WatchConfigOptions {
  readonly clock: Clock;
  /** What runs now. */
  readonly current: LoadedConfig;
  /** Reads everything again, whole, or throws a `Fault`. */
  load(): Promise<LoadedConfig>;
  /** Why a valid configuration must not be applied; asked before anything is applied. */
  refuses?(next: LoadedConfig): readonly Problem[];
  /** A valid configuration is there that is new, or follows a bad one; `needRestart` names the keys that only a restart changes. */
  changed(next: LoadedConfig, needRestart: readonly string[]): void;
  /** The new file is bad: the old configuration stays. Called once for each new reason. */
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
// Fallback where file events do not work (network file systems, exhausted inotify).
const POLL_MS = 15_000;

/** Watches the files of a configuration and delivers every new valid one. */
export function watchConfig(options: WatchConfigOptions): ConfigWatch {
  const { clock, files = systemFiles } = options;
  let current = options.current;
  let seen = current.signature ?? files.signature(current.files);
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
      // The reason for refusing it may be gone: a secret file that was not there yet.
      if (isRefused) read();
      else readIfChanged();
      poll();
    });
  }

  function read(): void {
    queue = queue.then(async () => {
      if (isStopped) return;
      seen = files.signature(current.files);
      try {
        const next = await options.load();
        const problems = options.refuses?.(next) ?? [];
        if (problems.length > 0) throw problemsFault(problems, next.file);
        accept(next, seen);
      } catch (thrown) {
        refuse(Fault.from(thrown));
      }
    });
  }

  /** `before` is what the files known so far looked like before it was read. */
  function accept(next: LoadedConfig, before: string): void {
    if (isStopped) return;
    const isMended = isRefused;
    lastRefusal = '';
    isRefused = false;
    const isNews = next.version !== current.version || isMended;
    const areSame = next.files.join('\n') === current.files.join('\n');
    // Also where nothing else is new: a secret may have moved into a file, and that is to be followed from now on.
    unwatch();
    current = next;
    // Not as they look now: what was written while we read is still to be read.
    seen = next.signature ?? (areSame ? before : files.signature(next.files));
    unwatch = files.watch(current.files, noticed);
    if (isNews) options.changed(next, changesNeedingRestart(options.current.config, next.config));
  }

  function refuse(fault: Fault): void {
    if (isStopped || fault.message === lastRefusal) return;
    lastRefusal = fault.message;
    isRefused = true;
    options.refused(fault);
  }

  poll();
  // What has changed since it was read, before anyone watched.
  noticed();
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
