// Which piece of which file bears which number. The index is written before a piece is sent, so that after a restart
// of the agent the same number still means the same bytes: nothing is lost and nothing comes twice.
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { Fault } from '#core/fault.ts';

export type OutputStream = 'stdout' | 'stderr';
export const STREAMS: readonly OutputStream[] = ['stdout', 'stderr'];
export type Ends = Readonly<Record<OutputStream, number>>;

export interface OutputPiece {
  readonly seq: number;
  readonly stream: OutputStream;
  readonly offset: number;
  readonly length: number;
  /** A notice of the agent that is in no file. */
  readonly note?: string | undefined;
}

export interface OutputIndex {
  readonly lastSeq: number;
  /** Up to where each file has been cut into pieces. */
  readonly ends: Ends;
  /** Up to where each file is surely no longer needed. */
  readonly needless: Ends;
  /** Where the output was truncated. */
  readonly cut: Ends | undefined;
  /** Whether the output contains a notice of the agent. */
  readonly isNoted: boolean;
  /** All unacknowledged pieces, in order. */
  readonly waiting: readonly OutputPiece[];
  add(stream: OutputStream, length: number): void;
  addNote(note: string): void;
  setCut(ends: Ends): void;
  ack(seq: number): void;
  close(): void;
}

interface Base {
  readonly seq: number;
  readonly ends: Ends;
}

// How much acknowledged past the index may hold, and a restarted agent sends in vain.
const PAST_BYTES = 4 * 2 ** 20;
const PAST_PIECES = 1_024;

function readLines(path: string): string[] {
  try {
    // Bytes after the last line end are a torn write after a power loss.
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

interface Past {
  readonly base: Base;
  readonly pieces: OutputPiece[];
  readonly ends: Record<OutputStream, number>;
  cut: Ends | undefined;
  isNoted: boolean;
}

function parse(lines: readonly string[]): Past {
  const [, seq = 0, stdout = 0, stderr = 0] = (lines[0] ?? 'base 0 0 0').split(' ').map(Number);
  const base: Base = { seq, ends: { stdout, stderr } };
  const past: Past = { base, pieces: [], ends: { stdout, stderr }, cut: undefined, isNoted: false };
  for (const line of lines.slice(1)) {
    const [word, first, second] = line.split(' ', 3) as [string, string, string];
    if (word === 'cut') past.cut = { stdout: Number(first), stderr: Number(second) };
    else if (word === 'noted') past.isNoted = true;
    else
      addTo(past, word === 'note' ? 'stderr' : (word as OutputStream), word === 'note' ? line.slice(5) : Number(first));
  }
  return past;
}

function addTo(past: Past, stream: OutputStream, what: number | string): void {
  const piece = nextOf(past, stream, what);
  past.pieces.push(piece);
  past.ends[stream] += piece.length;
  past.isNoted ||= piece.note !== undefined;
}

function nextOf({ base, pieces, ends }: Past, stream: OutputStream, what: number | string): OutputPiece {
  const seq = base.seq + pieces.length + 1;
  if (typeof what === 'number') return { seq, stream, offset: ends[stream], length: what };
  return { seq, stream, offset: ends[stream], length: 0, note: JSON.parse(what) as string };
}

function render({ base, pieces, cut, isNoted }: Past): string {
  const lines = [`base ${base.seq} ${base.ends.stdout} ${base.ends.stderr}`];
  if (cut) lines.push(`cut ${cut.stdout} ${cut.stderr}`);
  if (isNoted) lines.push('noted');
  for (const piece of pieces) lines.push(lineOf(piece));
  return `${lines.join('\n')}\n`;
}

const lineOf = ({ stream, length, note }: Pick<OutputPiece, 'stream' | 'length' | 'note'>): string =>
  note === undefined ? `${stream} ${length}` : `note ${JSON.stringify(note)}`;

export function openIndex(path: string): OutputIndex {
  let past = parse(readLines(path));
  let waiting = past.pieces.slice();
  let file = rewrite();
  let isTorn = false;

  function rewrite(): number {
    writeFileSync(`${path}.draft`, render(past), { mode: 0o600 });
    renameSync(`${path}.draft`, path);
    return openSync(path, 'a');
  }

  // The old one is closed last: where a full disk has no room for the new one, it is still ours to close.
  function renew(): void {
    const next = rewrite();
    closeSync(file);
    file = next;
  }

  // A full disk may store half a line: then the whole file is rewritten before the next one.
  function write(line: string): void {
    if (isTorn) renew();
    isTorn = true;
    isTorn = writeSync(file, line) < Buffer.byteLength(line);
    if (isTorn) throw new Fault('unavailable', 'The disk of this worker is full.', { at: 'disk' });
  }

  function add(stream: OutputStream, what: number | string): void {
    write(`${lineOf(nextOf(past, stream, what))}\n`);
    addTo(past, stream, what);
    waiting.push(past.pieces.at(-1) as OutputPiece);
  }

  function forgetPast(): void {
    const gone = past.pieces.slice(0, past.pieces.length - waiting.length);
    const bytes = gone.reduce((sum, piece) => sum + piece.length, 0);
    if (bytes < PAST_BYTES && gone.length < PAST_PIECES) return;
    const ends = { ...past.base.ends };
    for (const piece of gone) ends[piece.stream] += piece.length;
    past = { ...past, base: { seq: past.base.seq + gone.length, ends }, pieces: waiting.slice() };
    renew();
  }

  return {
    get lastSeq() {
      return past.base.seq + past.pieces.length;
    },
    get ends() {
      return past.ends;
    },
    get needless() {
      return past.base.ends;
    },
    get cut() {
      return past.cut;
    },
    get isNoted() {
      return past.isNoted;
    },
    get waiting() {
      return waiting;
    },
    add,
    addNote: (note) => add('stderr', JSON.stringify(note)),
    setCut(ends) {
      write(`cut ${ends.stdout} ${ends.stderr}\n`);
      past.cut = ends;
    },
    ack(seq) {
      if ((waiting[0]?.seq ?? Number.POSITIVE_INFINITY) > seq) return;
      waiting = waiting.filter((piece) => piece.seq > seq);
      forgetPast();
    },
    close: () => closeSync(file),
  };
}
