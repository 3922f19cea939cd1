import type { Duplex } from 'node:stream';
import type { Clock } from '#core/clock.ts';

// Long enough for a client to read a few hundred bytes.
const FAREWELL_MS = 5_000;

/** Sends a last message, then closes the connection if the client does not. */
export function farewell(socket: Duplex, text: string, clock: Clock): void {
  socket.end(text);
  socket.once(
    'close',
    clock.alarm(FAREWELL_MS, () => socket.destroy()),
  );
}
