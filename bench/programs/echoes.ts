// Streams to the bare server, each on a connection of its own: the next message leaves when the last has come back.
import { systemClock } from '#core/clock.ts';
import { parseBrokerAddress } from '../../src/agent/address.ts';
import { openLine } from '../../src/agent/dial.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface Echoing {
  readonly address: string;
  readonly path: string;
  readonly streams: number;
  readonly forMs: number;
}

// As long as the command that starts a session, and the report of its end.
const MESSAGE = Buffer.alloc(100, 'x');

function echoUntil(endMs: number, { address, path }: Echoing): Promise<number> {
  const line = openLine(parseBrokerAddress(`http://${address}`, false), {});
  let echoes = 0;
  return new Promise((resolve) => {
    const stream = line.open(
      path,
      {},
      {
        message() {
          echoes += 1;
          if (systemClock.monotonic() < endMs) stream.write(MESSAGE, () => {});
          else stream.halfClose();
        },
        ended() {
          line.close();
          resolve(echoes);
        },
      },
    );
    stream.write(MESSAGE, () => {});
  });
}

const calls = {
  /** Answers how many came back. */
  async echo(echoing: Echoing): Promise<number> {
    const endMs = systemClock.monotonic() + echoing.forMs;
    const counts = await Promise.all(Array.from({ length: echoing.streams }, () => echoUntil(endMs, echoing)));
    return counts.reduce((sum, count) => sum + count, 0);
  },
} satisfies Calls;

export type EchoCalls = typeof calls;

serveCalls(calls);
