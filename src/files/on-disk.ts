import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFileHash } from '#core/file.ts';
import { syncFolder } from '#host/durable-file.ts';
import { type FileContents, noFile, openIncoming } from './contents.ts';

const PIECE_BYTES = 256 * 1024;

async function* piecesOf(path: string, hash: string): AsyncGenerator<Uint8Array> {
  const file = await open(path).catch((thrown) => {
    throw (thrown as NodeJS.ErrnoException).code === 'ENOENT' ? noFile(hash) : thrown;
  });
  try {
    for (let left = (await file.stat()).size; left > 0; ) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(Math.min(left, PIECE_BYTES)) });
      if (bytesRead === 0) return;
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Files in a directory of one process, each under its hash; written elsewhere first, then renamed. */
export async function contentsOnDisk(directory: string): Promise<FileContents> {
  const incoming = await openIncoming(directory);
  const folderOf = (hash: string): string => join(directory, hash.slice(0, 2));
  const pathOf = (hash: string): string => join(folderOf(hash), hash);
  return {
    async receive(content, expected) {
      const { hash } = expected;
      const draft = await incoming.take(content, expected);
      return {
        bytes: draft.bytes,
        async keep() {
          const made = await mkdir(folderOf(hash), { recursive: true, mode: 0o700 });
          await rename(draft.path, pathOf(hash));
          await syncFolder(folderOf(hash));
          if (made !== undefined) await syncFolder(directory);
        },
        discard: () => rm(draft.path, { force: true }),
      };
    },
    read: (hash) => piecesOf(pathOf(hash), hash),
    drop: (hash) => rm(pathOf(hash), { force: true }),
    async *hashes() {
      for (const folder of await readdir(directory)) {
        if (!/^[0-9a-f]{2}$/.test(folder)) continue;
        for (const name of await readdir(join(directory, folder))) if (isFileHash(name)) yield name;
      }
    },
    close: async () => {},
  };
}
