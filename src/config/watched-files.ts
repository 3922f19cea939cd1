import { realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** How changes of files are noticed. */
export interface FileWatch {
  /** Equal as long as none of the files has changed. */
  signature(paths: readonly string[]): string;
  /** Calls `noticed` when something may have changed; the returned function ends it. */
  watch(paths: readonly string[], noticed: () => void): () => void;
}

/** Equal as long as that file has not changed. */
export function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [realpathSync(path), ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return 'absent';
  }
}

export const joinSignatures = (each: readonly string[]): string => each.join('\n');

export const systemFiles: FileWatch = {
  signature: (paths) => joinSignatures(paths.map(signatureOf)),
  watch(paths, noticed) {
    // The directory, not the file: editors rename a new file over the old, Kubernetes swaps a link beside it.
    const folders = new Set(paths.map((path) => dirname(path)));
    const stops = [...folders].map((folder) => watchFolder(folder, noticed));
    return () => {
      for (const stop of stops) stop();
    };
  },
};

function watchFolder(folder: string, noticed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || !isOwnScratch(name)) noticed();
    });
    // A watch that breaks leaves the polling.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

const isOwnScratch = (name: string): boolean => /\.(swp|swx|tmp)$|~$/.test(basename(name));
