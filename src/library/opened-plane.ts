// The control plane of a computer is open while an operation runs, and shared by those that overlap. Between operations
// nothing of it keeps a script from ending.
import { type ComposeOptions, type ComputerPlane, composeComputer } from './compose.ts';
import type { HeldFolder } from './held-folder.ts';
import type { LibraryParts } from './parts.ts';

export interface OpenedPlane {
  /** Runs an operation on the plane; throws a `Fault` that names the holder where another process has the folder. */
  use<T>(work: (plane: ComputerPlane) => Promise<T>): Promise<T>;
  /** Keeps others out of the folder until `release`, also between operations. */
  keep(): void;
  release(): void;
  /** Calls back when anything may have changed; the returned function ends that. */
  onNews(heard: () => void): () => void;
}

export function openedPlane(parts: LibraryParts, options: Omit<ComposeOptions, 'news'>): OpenedPlane {
  const heards = new Set<() => void>();
  let users = 0;
  let isKept = false;
  let held: HeldFolder | undefined;
  let plane: Promise<ComputerPlane> | undefined;
  let closing: Promise<void> = Promise.resolve();

  async function open(): Promise<ComputerPlane> {
    await closing;
    held ??= await parts.hold(options.folder);
    return composeComputer(parts, {
      ...options,
      news() {
        for (const heard of heards) heard();
      },
    });
  }

  async function close(ended: Promise<ComputerPlane> | undefined): Promise<void> {
    // One that could not be opened leaves nothing to stop.
    await ended?.then(
      (opened) => opened.stop(),
      () => {},
    );
    if (!isKept && users === 0) letGo();
  }

  function letGo(): void {
    held?.release();
    held = undefined;
  }

  return {
    async use(work) {
      users += 1;
      plane ??= open();
      try {
        const opened = await plane;
        return await Promise.race([work(opened), opened.failed]);
      } finally {
        users -= 1;
        if (users === 0) {
          closing = close(plane);
          plane = undefined;
        }
        await closing;
      }
    },
    keep() {
      isKept = true;
    },
    release() {
      isKept = false;
      if (users === 0) letGo();
    },
    onNews(heard) {
      heards.add(heard);
      return () => heards.delete(heard);
    },
  };
}
