import { Fault } from '#core/fault.ts';
import type { WatchedFiles } from '../watched-files.ts';

/** Files in memory, for tests on a virtual clock; read again only after `forget`, as the real ones within moments. */
export interface MemoryFiles extends WatchedFiles {
  readonly texts: Map<string, string>;
}

export function memoryFiles(): MemoryFiles {
  const texts = new Map<string, string>();
  const seen = new Map<string, string>();
  async function readIfThere(path: string): Promise<string | undefined> {
    const text = seen.get(path) ?? texts.get(path);
    if (text !== undefined) seen.set(path, text);
    return text;
  }
  return {
    texts,
    readIfThere,
    async read(path) {
      const text = await readIfThere(path);
      if (text === undefined) throw new Fault('missing', `The file ${path} does not exist.`, { at: path });
      return text;
    },
    forget: () => seen.clear(),
  };
}
