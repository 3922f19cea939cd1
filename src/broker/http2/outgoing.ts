import type { Socket } from 'node:net';
import { FRAME } from './frames.ts';

const NOTHING = Buffer.alloc(0);
// Frames that no window holds back: headers, and answers to pings, settings and broken rules.
const MOST_UNREAD_BYTES = 256 * 1_024;

/** The way out of a connection: all frames that are sent in one turn leave together. */
export class Outgoing {
  readonly #socket: Socket;
  #isCorked = false;
  #unreadBytes = 0;
  #written: (() => void)[] | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `written` is called when the system has taken the frame, never where the connection breaks. */
  send(frame: Buffer, written?: () => void): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      queueMicrotask(() => this.#flush());
    }
    if (frame[3] === FRAME.data) socket.write(frame);
    else this.#sendFree(frame);
    if (!written) return;
    this.#written ??= [];
    this.#written.push(written);
  }

  /** A client that does not read such frames is cut off. */
  #sendFree(frame: Buffer): void {
    if (this.#unreadBytes > MOST_UNREAD_BYTES) return void this.#socket.destroy();
    this.#unreadBytes += frame.length;
    this.#socket.write(frame, () => {
      this.#unreadBytes -= frame.length;
    });
  }

  #flush(): void {
    const socket = this.#socket;
    const written = this.#written;
    this.#isCorked = false;
    this.#written = undefined;
    socket.uncork();
    if (!written) return;
    const tell = (): void => {
      for (const each of written) each();
    };
    // Mostly the system takes all of it at once; a callback for each write would cost a tick of its own.
    if (socket.writableLength === 0 || socket.writableEnded) tell();
    else socket.write(NOTHING, (error) => error || tell());
  }
}
