import type { Socket } from 'node:net';
import type { SharedAlarm } from '../wire/shared-alarm.ts';
import { FRAME } from './frames.ts';

const NOTHING = Buffer.alloc(0);
const MOST_LATE = 16;
// Frames that no window holds back: headers, and answers to pings, settings and broken rules.
const MOST_UNREAD_BYTES = 256 * 1_024;

/** The way out of a connection: all frames that are sent in one turn leave together. */
export class Outgoing {
  readonly #socket: Socket;
  readonly #later: SharedAlarm;
  #late: Buffer[] | undefined;
  #isCorked = false;
  #unreadBytes = 0;
  #written: (() => void)[] | undefined;

  constructor(socket: Socket, later: SharedAlarm) {
    this.#socket = socket;
    this.#later = later;
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
    if (this.#late) this.#sendLate();
    if (frame[3] === FRAME.data) socket.write(frame);
    else this.#sendUnlimited(frame);
    if (!written) return;
    this.#written ??= [];
    this.#written.push(written);
  }

  /** For answers that no one waits for: they leave with the next frame, or alone a moment later. */
  sendLater(frame: Buffer): void {
    if (this.#isCorked || (this.#late?.length ?? 0) >= MOST_LATE) return this.send(frame);
    if (this.#late) return void this.#late.push(frame);
    this.#late = [frame];
    this.#later(() => {
      const late = this.#late ?? [];
      this.#late = undefined;
      for (const each of late) this.send(each);
    });
  }

  #sendLate(): void {
    const late = this.#late;
    this.#late = undefined;
    for (const frame of late ?? []) this.#sendUnlimited(frame);
  }

  /** A client that does not read such frames is cut off. */
  #sendUnlimited(frame: Buffer): void {
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
