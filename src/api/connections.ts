import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#core/clock.ts';
import { refuseRaw } from './graceful-close.ts';

/** How long a client may take. */
export interface ClientTimeouts {
  /** For the head of a request. */
  readonly headersMs: number;
  /** For a whole request, or for each MB of a long one; also how long a client may stop reading its answer. */
  readonly requestMs: number;
  /** Between an answer and the next request. */
  readonly idleMs: number;
}

/** The connections of the API, which the owner of the listening sockets hands over. */
export interface Connections {
  /** Closes each connection once its requests are answered, and all of them after that time. */
  close(withinMs: number): Promise<void>;
}

// In the time for a whole request: some 17 KB a second.
const LEAST_UPLOADED_BYTES = 1024 * 1024;
const KEEPALIVE_MS = 30_000;

interface Connection {
  /** Requests and answers that are not complete yet. */
  open: number;
  /** Cancels the deadline for the head of the next request. */
  cancel: () => void;
}

const TOO_LATE = { code: 'ERR_HTTP_REQUEST_TIMEOUT' };

function dropUnread(this: ServerResponse): void {
  if (this.socket && this.socket.writableLength > 0) this.socket.destroy();
}

/**
 * Closes connections of clients that take too long, and all of them at the end. Node does both only for a server that
 * listens by itself.
 */
export function watchConnections(server: Server, times: ClientTimeouts, clock: Clock): Connections {
  const connections = new Map<Socket, Connection>();
  let isClosing = false;
  let allClosed = (): void => {};

  function expectHead(connection: Connection, socket: Socket, withinMs: number): void {
    connection.cancel = clock.alarm(withinMs, () => refuseRaw(TOO_LATE, socket, clock));
  }

  function completed(connection: Connection, socket: Socket): void {
    connection.open -= 1;
    if (connection.open > 0) return;
    if (isClosing) socket.destroy();
    else if (!socket.destroyed) expectHead(connection, socket, times.idleMs + times.headersMs);
  }

  /** A long upload takes more than one period; one that hardly sends anything gets no second. */
  function watchRequest(request: IncomingMessage, tooLate: () => void): { cancel(): void } {
    let seenBytes = request.socket.bytesRead;
    const look = (): void => {
      if (request.complete) return;
      const { bytesRead } = request.socket;
      if (bytesRead - seenBytes < LEAST_UPLOADED_BYTES) return tooLate();
      seenBytes = bytesRead;
      deadline.cancel = clock.alarm(times.requestMs, look);
    };
    const deadline = { cancel: clock.alarm(times.requestMs, look) };
    return { cancel: () => deadline.cancel() };
  }

  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy();
    const connection: Connection = { open: 0, cancel() {} };
    connections.set(socket, connection);
    // TCP keep-alive detects a dead peer, however long an answer takes.
    socket.setKeepAlive(true, KEEPALIVE_MS);
    expectHead(connection, socket, times.headersMs);
    socket.once('close', () => {
      connection.cancel();
      connections.delete(socket);
      if (connections.size === 0) allClosed();
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (!connection) return;
    connection.open += 2;
    connection.cancel();
    const deadline = watchRequest(request, () => {
      if (response.headersSent) socket.destroy();
      else refuseRaw(TOO_LATE, socket, clock);
    });
    request.once('close', () => {
      deadline.cancel();
      completed(connection, socket);
    });
    response.once('close', () => completed(connection, socket));
    response.on('timeout', dropUnread);
  });

  server.on('upgrade', ({ socket }: IncomingMessage) => {
    // While closing, no one else takes it.
    if (isClosing) return void socket.destroy();
    connections.get(socket)?.cancel();
    connections.delete(socket);
  });

  return {
    async close(withinMs) {
      isClosing = true;
      const closed = new Promise<void>((resolve) => (allClosed = resolve));
      for (const [socket, { open }] of connections) if (open === 0) socket.destroy();
      if (connections.size === 0) return;
      const cancel = clock.alarm(withinMs, () => {
        for (const socket of connections.keys()) socket.destroy();
      });
      await closed;
      cancel();
    },
  };
}
