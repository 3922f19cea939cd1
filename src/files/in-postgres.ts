import { open, rm } from 'node:fs/promises';
import { openPostgres, type PostgresClient } from '#store/postgres/client.ts';
import { postgresFault } from '#store/postgres/fault.ts';
import { transaction } from '#store/sql.ts';
import { type FileContents, noFile, openIncoming } from './contents.ts';

const PIECE_BYTES = 256 * 1024;
const HASHES_AT_ONCE = 1_000;
const ANSWER_WITHIN_MS = 30_000;

// Pieces are written in one transaction: a file is there whole or not at all.
const CREATE = `CREATE TABLE IF NOT EXISTS file_pieces (
  hash TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (hash, number)
)`;
const INSERT = 'INSERT INTO file_pieces VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const READ = 'SELECT data FROM file_pieces WHERE hash = ? AND number = ?';
// A former holder that was paused must not delete what its successor has kept.
const DROP = 'DELETE FROM file_pieces WHERE hash = ? AND EXISTS (SELECT 1 FROM cluster WHERE epoch = ?)';
const HASHES = 'SELECT hash FROM file_pieces WHERE hash > ? AND number = 0 ORDER BY hash LIMIT ?';

export interface PostgresPlace {
  readonly url: string;
  readonly epoch: number;
  /** Uploads are spooled here, so that a slow client holds no transaction open. */
  readonly directory: string;
}

async function insertFile(client: PostgresClient, hash: string, path: string): Promise<void> {
  const connection = await client.connection();
  const file = await open(path, 'r');
  try {
    await transaction(connection, async () => {
      const buffer = Buffer.alloc(PIECE_BYTES);
      for (let number = 0; ; number++) {
        const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES);
        // An empty file has one empty piece.
        if (bytesRead === 0 && number > 0) return;
        await connection.query(INSERT, [hash, number, buffer.subarray(0, bytesRead)]);
        if (bytesRead < PIECE_BYTES) return;
      }
    });
  } finally {
    await file.close();
  }
}

/** Files in the database that all replicas share, on connections apart from those of the store. */
export async function contentsInPostgres({ url, epoch, directory }: PostgresPlace): Promise<FileContents> {
  const incoming = await openIncoming(directory);
  // No lease waits for these connections: a busy database may take as long as for an answer.
  const limits = { connectWithinMs: ANSWER_WITHIN_MS, answerWithinMs: ANSWER_WITHIN_MS };
  const writing = openPostgres(url, limits);
  const reading = openPostgres(url, limits);
  // One at a time: a transaction has the connection to itself.
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work).catch((thrown) => {
      throw postgresFault(thrown, url);
    });
    last = mine.catch(() => {});
    return mine;
  }

  await inTurn(() => writing.query(CREATE));
  return {
    async receive(content, expected) {
      const draft = await incoming.take(content, expected);
      const discard = (): Promise<void> => rm(draft.path, { force: true });
      return {
        bytes: draft.bytes,
        async keep() {
          try {
            await inTurn(() => insertFile(writing, expected.hash, draft.path));
          } finally {
            await discard();
          }
        },
        discard,
      };
    },
    async *read(hash) {
      for (let number = 0; ; number++) {
        const [row] = await reading.query(READ, [hash, number]).catch((thrown) => {
          throw postgresFault(thrown, url);
        });
        if (!row && number === 0) throw noFile(hash);
        if (!row) return;
        const data = row.data as Uint8Array;
        yield data;
        if (data.length < PIECE_BYTES) return;
      }
    },
    drop: (hash) => inTurn(async () => void (await writing.query(DROP, [hash, epoch]))),
    async *hashes() {
      let after = '';
      for (;;) {
        const rows = await reading.query(HASHES, [after, HASHES_AT_ONCE]);
        for (const { hash } of rows) yield hash as string;
        if (rows.length < HASHES_AT_ONCE) return;
        after = rows.at(-1)?.hash as string;
      }
    },
    async close() {
      await last;
      await Promise.all([writing.close(), reading.close()]);
    },
  };
}
