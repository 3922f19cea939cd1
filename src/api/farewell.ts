import type { Duplex } from 'node:stream';
import type { Clock } from '#core/clock.ts';

// Long enough for a client to read a few hundred bytes.
const FAREWELL_MS = 5_000;

/** Says a last word; a client that does not hang up then is hung up on. */
export function farewell(socket: Duplex, text: string, clock: Clock): void {
  socket.end(text);
  socket.once(
    'close',
    clock.alarm(FAREWELL_MS, () => socket.destroy()),
  );
}
