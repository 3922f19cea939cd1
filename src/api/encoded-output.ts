// A piece of output as it is sent, made once for all who follow: each gets the same bytes, never a copy.
import type { Clock } from '#core/clock.ts';
import type { OutputChunk } from '#core/session.ts';
import { shownOutput } from './shown/session.ts';
import type { AttachOut } from './wire/session.ts';

/** As raw bytes, as a line of JSON, as a message of a WebSocket. */
export type OutputForm = 'raw' | 'line' | 'message';

const MOST_A_TURN_BYTES = 32 * 2 ** 10;

/**
 * To be awaited after each piece that was sent to a reader. The network takes megabytes without waiting, so that
 * hundreds of readers would hold the event loop for as long: after some bytes every other event gets its turn.
 */
export function openTurns(clock: Clock): (sent: Buffer) => Promise<void> | undefined {
  let bytes = 0;
  return (sent) => {
    bytes += sent.length;
    if (bytes < MOST_A_TURN_BYTES) return undefined;
    bytes = 0;
    return new Promise((resolve) => clock.soon(resolve));
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
