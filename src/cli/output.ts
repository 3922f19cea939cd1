import { StringDecoder } from 'node:string_decoder';
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

export function writeLines({ output, errors }: Terminal, prefix: string): LineWriter {
  const streams = {
    stdout: { to: output, decoder: new StringDecoder('utf8'), rest: '' },
    stderr: { to: errors, decoder: new StringDecoder('utf8'), rest: '' },
  };
  return {
    write({ stream, data }) {
      const part = streams[stream];
      const lines = (part.rest + part.decoder.write(Buffer.from(data, 'base64'))).split('\n');
      part.rest = lines.pop() ?? '';
      if (lines.length > 0) part.to.write(lines.map((line) => `${prefix}${line}\n`).join(''));
    },
    end() {
      for (const part of Object.values(streams)) {
        const rest = part.rest + part.decoder.end();
        if (rest !== '') part.to.write(`${prefix}${rest}\n`);
        part.rest = '';
      }
    },
  };
}
