import type { Socket } from 'node:net';
import type { BurstQueue } from '#core/burst-queue.ts';

/**
 * Connections may end by the thousand, and the system reports all of them in one turn of the event loop: the end of each
 * takes its turn in the queue. Node hands it over as null after the last bytes, or as the error of reading.
 */
export function endInTurn(socket: Socket, { run }: BurstQueue): void {
  const { push, destroy, _destroy } = socket;
  socket.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    if (piece !== null) return push.call(socket, piece, encoding);
    run(() => {
      push.call(socket, null);
      // As Node does after the end: a socket that nobody reads would not notice it.
      socket.read(0);
    });
    return false;
  };
  socket.destroy = (error?: NodeJS.ErrnoException): Socket => {
    if (error?.syscall !== 'read') return destroy.call(socket, error);
    run(() => void destroy.call(socket, error));
    return socket;
  };
  socket._destroy = (error, done) => run(() => _destroy.call(socket, error, done));
}
