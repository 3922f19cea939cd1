import { WebSocket } from 'ws';

/** RFC 6455 §7.4.1. */
export const CLOSE = { done: 1000, stopping: 1001, refused: 1008, broken: 1011 } as const;

// RFC 6455 §5.5: the reason has at most 123 bytes.
const LONGEST_REASON = 120;

export function closeSocket(socket: WebSocket, code: number, why: string): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.close(code, Buffer.from(why).subarray(0, LONGEST_REASON).toString());
}
