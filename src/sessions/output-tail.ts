// Where the last lines of a session's output begin.
import type { OutputChunk, Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';

const BLOCK = 16;
const NEWLINE = 10;

/** A place in the output of a session: in the chunk after `afterSeq`, that many bytes are to be left out. */
export interface TailPlace {
  readonly attempt: number;
  readonly afterSeq: number;
  readonly skipBytes: number;
}

/** Where each line of a chunk ends. */
interface Ends {
  readonly seq: number;
  readonly bytes: number;
  readonly at: readonly number[];
}

function endsOf({ seq, data }: OutputChunk): Ends {
  const at: number[] = [];
  for (let from = data.indexOf(NEWLINE); from >= 0; from = data.indexOf(NEWLINE, from + 1)) at.push(from + 1);
  return { seq, bytes: data.length, at };
}

const countIn = (chunks: readonly Ends[]): number => chunks.reduce((sum, { at }) => sum + at.length, 0);

/** Behind the last line that is not wanted; undefined where these chunks have no such line. */
function placeIn(chunks: readonly Ends[], lines: number): Omit<TailPlace, 'attempt'> | undefined {
  const last = chunks.at(-1);
  // The end of the last line is none that a line comes after.
  let left = lines + (last && last.at.at(-1) === last.bytes ? 1 : 0);
  if (left === 0) return { afterSeq: last?.seq ?? 0, skipBytes: 0 };
  for (const { seq, at } of chunks.toReversed()) {
    if (at.length >= left) return { afterSeq: seq - 1, skipBytes: at[at.length - left] as number };
    left -= at.length;
  }
  return undefined;
}

/** Where the last lines of the newest attempt that has written something begin. Reads backwards, no further than needed. */
export async function findTail(
  { history }: Pick<Store, 'history'>,
  session: Session,
  lines: number,
): Promise<TailPlace> {
  const read = async (attempt: number, afterSeq: number, most: number): Promise<Ends[]> =>
    (await history.output({ session: session.id, attempt, afterSeq }, most)).map(endsOf);

  for (let attempt = session.attempt; attempt > 0; attempt--) {
    // While it runs, the row knows an earlier end: what came since is read first.
    const known = attempt === session.attempt ? (session.output?.seq ?? 0) : 0;
    let from = Math.max(0, known - BLOCK);
    let chunks = await read(attempt, from, BLOCK);
    for (let more = chunks; more.length === BLOCK; chunks = [...chunks, ...more])
      more = await read(attempt, more.at(-1)?.seq ?? 0, BLOCK);
    if (chunks.length === 0 && from === 0) continue;
    while (from > 0 && countIn(chunks) <= lines) {
      const before = Math.max(0, from - BLOCK);
      chunks = [...(await read(attempt, before, from - before)), ...chunks];
      from = before;
    }
    return { attempt, ...(placeIn(chunks, lines) ?? { afterSeq: from, skipBytes: 0 }) };
  }
  return { attempt: Math.max(1, session.attempt), afterSeq: 0, skipBytes: 0 };
}
