import type { Socket } from 'node:net';
import type { BurstQueue } from '#core/burst-queue.ts';

type Heard = (piece: Buffer) => void;

/** Where Node hands over what it has read from a socket: `push`, with null at the end. */
interface Reading {
  /** Gets the pieces in place of the stream. */
  heard: Heard | undefined;
}

const readings = new WeakMap<Socket, Reading>();

function takeOver(socket: Socket, run: (work: () => void) => void): Reading {
  const { push } = socket;
  const reading: Reading = { heard: undefined };
  readings.set(socket, reading);

  /** Whether more may come. What comes while it is paused the stream keeps, and emits it once it flows again. */
  function pass(piece: unknown, encoding?: BufferEncoding): boolean {
    const { heard } = reading;
    if (!heard || !(piece instanceof Buffer) || !socket.readableFlowing || socket.readableLength > 0)
      return push.call(socket, piece, encoding);
    heard(piece);
    return true;
  }

  socket.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    let mayGoOn: boolean | undefined;
    let isLater = false;
    run(() => {
      mayGoOn = !socket.destroyed && pass(piece, encoding);
      if (!isLater) return;
      // As Node does after the end: a socket that nobody reads would not notice it.
      if (piece === null) socket.read(0);
      // Node has stopped reading; by itself it only begins again after it has pushed something.
      else if (mayGoOn) socket._read(0);
    });
    isLater = true;
    // Until it was passed, nothing more is read: at most one piece waits for each connection.
    return mayGoOn ?? false;
  };
  return reading;
}

/**
 * Thousands of connections may send, end or fail at once, and the system reports all of them in one turn of the event
 * loop: each piece, each end and each error takes its turn in the queue.
 */
export function readInTurn(socket: Socket, { run }: Pick<BurstQueue, 'run'>): void {
  takeOver(socket, run);
  const { destroy } = socket;
  // Only what Node does itself may wait: it throws on bytes that come for a socket that is destroyed and not closed yet.
  socket.destroy = (error?: NodeJS.ErrnoException): Socket => {
    if (error?.syscall !== 'read') return destroy.call(socket, error);
    run(() => void destroy.call(socket, error));
    return socket;
  };
}

const atOnce = (work: () => void): void => work();

/**
 * Calls `heard` with each piece that comes. A stream that flows would only emit it, and schedule a tick to look for more,
 * which costs as much as a short message. The returned function gives the socket back: then it is a plain stream again,
 * without a listener of ours.
 */
export function readPieces(socket: Socket, heard: Heard): () => void {
  const reading = readings.get(socket) ?? takeOver(socket, atOnce);
  reading.heard = heard;
  socket.on('data', heard);
  return () => {
    reading.heard = undefined;
    socket.off('data', heard);
  };
}
