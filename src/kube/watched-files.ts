// Files that others rewrite while we run: kubeconfigs, tokens, certificates.
import { readFile, stat } from 'node:fs/promises';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

export interface WatchedFiles {
  /** The text as it is, or was a moment ago. */
  read(path: string): Promise<string>;
  /** As `read`; nothing where there is no such file. */
  readIfThere(path: string): Promise<string | undefined>;
  /** The next reading looks at the files themselves. */
  forget(): void;
}

interface Seen {
  readonly text: string;
  readonly stamp: string;
  lookedAtMs: number;
}

const LOOK_EVERY_MS = 2 * SECOND_MS;

export function openWatchedFiles(clock: Clock): WatchedFiles {
  const seen = new Map<string, Seen>();

  async function look(path: string): Promise<string> {
    const known = seen.get(path);
    const nowMs = clock.monotonic();
    if (known && nowMs - known.lookedAtMs < LOOK_EVERY_MS) return known.text;
    // By content of the link's target: Kubernetes swaps mounted secrets by a symbolic link.
    const { mtimeMs, size, ino } = await stat(path);
    const stamp = `${mtimeMs} ${size} ${ino}`;
    if (known && known.stamp === stamp && known.lookedAtMs !== Number.NEGATIVE_INFINITY) {
      known.lookedAtMs = nowMs;
      return known.text;
    }
    const text = await readFile(path, 'utf8');
    seen.set(path, { text, stamp, lookedAtMs: nowMs });
    return text;
  }

  async function read(path: string): Promise<string> {
    try {
      return await look(path);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw new Fault('missing', `The file ${path} does not exist.`, { at: path });
      throw new Fault('denied', `The file ${path} cannot be read: ${code ?? Fault.from(thrown).message}.`, {
        at: path,
      });
    }
  }

  return {
    read,
    readIfThere: (path) =>
      read(path).catch((thrown) => {
        if (Fault.from(thrown).kind === 'missing') return undefined;
        throw thrown;
      }),
    forget() {
      for (const file of seen.values()) file.lookedAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}
