import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';

/** Where the bytes of files are. What can be read under a hash is always whole. */
export interface FileContents {
  /** Takes in an upload; nothing can be read of it before it is kept. */
  receive(content: AsyncIterable<Uint8Array>, expected: Expected): Promise<Received>;
  /** Throws `missing` where there is none. */
  read(hash: string): AsyncIterable<Uint8Array>;
  /** Absent is success. */
  drop(hash: string): Promise<void>;
  /** The hashes of all that is kept. */
  hashes(): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface Expected {
  readonly hash: string;
  readonly mostBytes: number;
}

/** An upload that has the expected hash. Call one of its functions, once. */
export interface Received {
  readonly bytes: number;
  /** Resolves when the file is durable under its hash. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

export const noFile = (hash: string): Fault =>
  new Fault('missing', `The server does not keep the file ${hash}.`, { remedy: 'Send the session again with --sync.' });

function checked(found: string, { hash }: Expected): void {
  if (found === hash) return;
  throw new Fault('invalid', `The bytes have the SHA-256 ${found}, not ${hash}.`, {
    at: 'body',
    remedy: 'The file may have changed while it was read: send it again.',
  });
}

/** The same bytes, counted and hashed on their way; throws at their end where they are not as expected. */
export async function* verified(content: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > expected.mostBytes)
      throw new Fault('invalid', `The file has more than ${expected.mostBytes} bytes.`, {
        at: 'body',
        remedy: 'Leave the file out with .musterignore, or raise `files.session_bytes` of the server.',
      });
    hash.update(piece);
    yield piece;
  }
  checked(hash.digest('hex'), expected);
}

/** Where uploads are while they come in: under names of their own. */
export interface Incoming {
  /** A whole upload with the expected hash, on disk and durable; its path and size. */
  take(
    content: AsyncIterable<Uint8Array>,
    expected: Expected,
  ): Promise<{ readonly path: string; readonly bytes: number }>;
}

/** Removes what an earlier process has left there. */
export async function openIncoming(directory: string): Promise<Incoming> {
  const path = join(directory, 'incoming');
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
  return {
    async take(content, expected) {
      const draft = join(path, randomUUID());
      const file = await open(draft, 'wx', 0o600);
      let bytes = 0;
      try {
        for await (const piece of verified(content, expected)) {
          await file.writeFile(piece);
          bytes += piece.length;
        }
        await file.sync();
      } catch (thrown) {
        await rm(draft, { force: true });
        throw thrown;
      } finally {
        await file.close();
      }
      return { path: draft, bytes };
    },
  };
}
