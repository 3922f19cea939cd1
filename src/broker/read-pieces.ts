import type { Socket } from 'node:net';

/**
 * Calls `heard` with each piece that comes. `push` is where Node hands a piece to the stream of a socket; a stream that
 * flows would only emit it, and schedule a tick to look for more, which costs as much as a short message.
 * The returned function gives the socket back: then it is a plain stream again, without a listener of ours.
 */
export function readPieces(socket: Socket, heard: (piece: Buffer) => void): () => void {
  const push = socket.push;
  // Where it was paused, the stream keeps what comes, and emits it once it flows again.
  socket.on('data', heard);
  socket.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    if (!(piece instanceof Buffer) || !socket.readableFlowing || socket.readableLength > 0)
      return push.call(socket, piece, encoding);
    heard(piece);
    return true;
  };
  return () => {
    socket.push = push;
    socket.off('data', heard);
  };
}
