// Output in the memory of the page: lines in blocks, so that what has been drawn is not drawn again when more comes.
import type { OutputLine } from '../../api/wire/session.ts';

/** Lines of one stream in a row. */
export interface OutputRun {
  readonly stream: OutputLine['stream'];
  readonly attempt: number;
  /** Without the last line end. */
  readonly text: string;
}

export interface OutputBlock {
  readonly id: number;
  readonly runs: readonly OutputRun[];
}

export interface OutputText {
  add(pieces: readonly OutputLine[]): void;
  /** A full block is the same object each time. */
  blocks(): readonly OutputBlock[];
  /** Earlier lines were dropped, because the page keeps only so much. */
  isCutBefore(): boolean;
}

interface OpenLine {
  readonly stream: OutputLine['stream'];
  readonly attempt: number;
  text: string;
}

const LINES_A_BLOCK = 100;
const MOST_LETTERS = 4_000_000;
const MOST_BLOCKS = 200;
/** A longer line goes on in the next row: browsers lay out a line as a whole. */
const LONGEST_LINE = 4_000;
const LINE_END = /\r\n|\n|\r/;

const bytesIn = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** Reads each stream of each attempt as UTF-8, also where a piece ends within a letter or a line end. */
function openDecoders(): (piece: OutputLine) => string {
  const decoders = new Map<string, { readonly decoder: TextDecoder; held: string }>();
  return ({ stream, attempt, data }) => {
    const key = `${attempt} ${stream}`;
    const own = decoders.get(key) ?? { decoder: new TextDecoder('utf-8', { ignoreBOM: true }), held: '' };
    decoders.set(key, own);
    const text = own.held + own.decoder.decode(bytesIn(data), { stream: true });
    // A line end of two letters may come in two pieces.
    own.held = text.endsWith('\r') ? '\r' : '';
    return own.held ? text.slice(0, -1) : text;
  };
}

/** Lines of the same stream and attempt join to runs. */
function runsOf(lines: readonly OpenLine[]): readonly OutputRun[] {
  const runs: { stream: OutputLine['stream']; attempt: number; texts: string[] }[] = [];
  for (const { stream, attempt, text } of lines) {
    const last = runs.at(-1);
    if (last?.stream === stream && last.attempt === attempt) last.texts.push(text);
    else runs.push({ stream, attempt, texts: [text] });
  }
  return runs.map(({ texts, ...run }) => ({ ...run, text: texts.join('\n') }));
}

export function openOutputText(): OutputText {
  const decode = openDecoders();
  const full: (OutputBlock & { readonly letters: number })[] = [];
  let last: OpenLine[] = [];
  let nextId = 1;
  let letters = 0;
  let isCut = false;
  /** The line that the next piece of its stream goes on with. */
  let open: OpenLine | undefined;

  function close(): void {
    open = undefined;
    if (last.length < LINES_A_BLOCK) return;
    const size = last.reduce((sum, { text }) => sum + text.length, 0);
    full.push({ id: nextId, runs: runsOf(last), letters: size });
    nextId += 1;
    letters += size;
    last = [];
    while (letters > MOST_LETTERS || full.length > MOST_BLOCKS) {
      letters -= full.shift()?.letters ?? 0;
      isCut = true;
    }
  }

  function write(text: string, { stream, attempt }: OutputLine): void {
    if (open && (open.stream !== stream || open.attempt !== attempt)) close();
    for (let rest = text; rest !== ''; ) {
      if (open && open.text.length >= LONGEST_LINE) close();
      if (!open) {
        open = { stream, attempt, text: '' };
        last.push(open);
      }
      const room = LONGEST_LINE - open.text.length;
      open.text += rest.slice(0, room);
      rest = rest.slice(room);
    }
  }

  /** An empty line is one too. */
  function endLine({ stream, attempt }: OutputLine): void {
    if (open && (open.stream !== stream || open.attempt !== attempt)) close();
    if (!open) last.push({ stream, attempt, text: '' });
    close();
  }

  function take(piece: OutputLine): void {
    let text = decode(piece);
    for (let end = LINE_END.exec(text); end; end = LINE_END.exec(text)) {
      // A lone return, as of progress bars, stays to be seen.
      write(text.slice(0, end.index) + (end[0] === '\r' ? '\r' : ''), piece);
      endLine(piece);
      text = text.slice(end.index + end[0].length);
    }
    write(text, piece);
  }

  return {
    add: (pieces) => pieces.forEach(take),
    blocks: () => (last.length === 0 ? [...full] : [...full, { id: nextId, runs: runsOf(last) }]),
    isCutBefore: () => isCut,
  };
}
