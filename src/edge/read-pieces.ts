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
      // Node calls read(0) after EOF: without it, a socket without a reader never emits `end`.
      if (piece === null) socket.read(0);
      // `push` returned false, so Node stopped reading; it resumes by itself only after a push to the stream.
      else if (mayGoOn) socket._read(0);
    });
    isLater = true;
    // False stops reading (back-pressure): at most one chunk waits for each connection.
    return mayGoOn ?? false;
  };
  return reading;
}

/**
 * Queues what comes from a socket: data, EOF and read errors. Thousands of sockets may be ready in one iteration of the
 * event loop, and Node would handle all of them before anything else.
 */
export function readInTurn(socket: Socket, { run }: Pick<BurstQueue, 'run'>): void {
  takeOver(socket, run);
  const { destroy } = socket;
  // Only read errors are delayed. Node throws if bytes arrive for a socket that is destroyed but not closed
  // (onStreamRead in stream_base_commons.js), so destroy() of our own code must close at once.
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
