import { StringDecoder } from 'node:string_decoder';
import type { OutputLine } from '../api/wire/session.ts';
import type { Write } from './follow.ts';
import type { Terminal } from './terminal.ts';

/** Puts output where it belongs: stdout to stdout, stderr to stderr. */
export function writeThrough({ output, errors }: Terminal): Write {
  return (line) => {
    (line.stream === 'stderr' ? errors : output).write(Buffer.from(line.data, 'base64'));
  };
}

/** With several sessions each line says whose it is; lines are written whole, so that they never mix. */
export interface LineWriter {
  readonly write: Write;
  /** Writes what is left without an end of line. */
  end(): void;
}

/** `prefix` of a line is that of the piece that the line begins in. */
export function writeLines({ output, errors }: Terminal, prefix: (piece: OutputLine) => string): LineWriter {
  const streams = {
    stdout: { to: output, decoder: new StringDecoder('utf8'), rest: '', begun: '' },
    stderr: { to: errors, decoder: new StringDecoder('utf8'), rest: '', begun: '' },
  };
  return {
    write(piece) {
      const { stream, data } = piece;
      const part = streams[stream];
      const own = prefix(piece);
      const first = part.rest === '' ? own : part.begun;
      const lines = (part.rest + part.decoder.write(Buffer.from(data, 'base64'))).split('\n');
      part.rest = lines.pop() ?? '';
      part.begun = lines.length > 0 ? own : first;
      if (lines.length > 0) part.to.write(lines.map((line, n) => `${n === 0 ? first : own}${line}\n`).join(''));
    },
    end() {
      for (const part of Object.values(streams)) {
        const rest = part.rest + part.decoder.end();
        if (rest !== '') part.to.write(`${part.begun}${rest}\n`);
        part.rest = '';
      }
    },
  };
}
