// A piece of output as it is sent, made once for all who follow: each gets the same bytes, never a copy.
import type { Clock } from '#core/clock.ts';
import type { OutputChunk } from '#core/session.ts';
import { shownOutput } from './shown/session.ts';
import type { AttachOut } from './wire/session.ts';

/** As raw bytes, as a line of JSON, as a message of a WebSocket. */
export type OutputForm = 'raw' | 'line' | 'message';

// Some milliseconds on a slow machine.
const MOST_A_TURN_BYTES = 512 * 2 ** 10;
// A short piece costs a call to the system as well: about as much as so many bytes.
const CALL_AS_BYTES = 16 * 2 ** 10;

/**
 * To be awaited before each piece is sent to a reader, by all readers together. The network takes megabytes without
 * waiting, so that hundreds of readers would hold the event loop for as long: after some bytes, to any of them, every
 * other event gets its turn. Readers that wait for output are all woken by the same piece: not even the first goes at once.
 */
export function openTurns(clock: Clock): (piece: Buffer) => Promise<void> | undefined {
  const waiting: { readonly costBytes: number; goOn(): void }[] = [];
  let bytes = 0;
  let isDue = false;

  function nextTurn(): void {
    isDue = false;
    bytes = 0;
    while (bytes < MOST_A_TURN_BYTES) {
      const reader = waiting.shift();
      if (!reader) break;
      bytes += reader.costBytes;
      reader.goOn();
    }
    if (bytes > 0) callNext();
  }

  function callNext(): void {
    if (!isDue) clock.soon(nextTurn);
    isDue = true;
  }

  return ({ length }) => {
    const costBytes = length + CALL_AS_BYTES;
    callNext();
    if (bytes < MOST_A_TURN_BYTES && waiting.length === 0) {
      bytes += costBytes;
      return undefined;
    }
    return new Promise((goOn) => waiting.push({ costBytes, goOn }));
  };
}

type Forms = Partial<Record<OutputForm, Buffer>>;

const made = new WeakMap<OutputChunk, Forms>();

const MAKE: Readonly<Record<OutputForm, (chunk: OutputChunk) => Buffer>> = {
  raw: ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  line: (chunk) => Buffer.from(`${JSON.stringify(shownOutput(chunk))}\n`),
  message: (chunk) => Buffer.from(JSON.stringify({ output: shownOutput(chunk) } satisfies AttachOut)),
};

export function encodeOutput(chunk: OutputChunk, form: OutputForm): Buffer {
  const forms = made.get(chunk) ?? {};
  if (forms[form] === undefined) {
    forms[form] = MAKE[form](chunk);
    made.set(chunk, forms);
  }
  return forms[form];
}
