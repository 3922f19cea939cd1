import type { Socket } from 'node:net';
import type { SharedAlarm } from '#wire/shared-alarm.ts';
import { FRAME } from './frames.ts';

const NOTHING = Buffer.alloc(0);
const MOST_LATE = 16;
// Up to here one copy costs less than a call of the system for several pieces.
const MOST_JOINED_BYTES = 16 * 1_024;
// Frames that no window holds back: headers, and answers to pings, settings and broken rules.
const MOST_UNREAD_BYTES = 256 * 1_024;

/** The frames of one turn. */
interface Turn {
  readonly frames: Buffer[];
  readonly written: (() => void)[];
  bytes: number;
  /** Of those that no window holds back. */
  unlimitedBytes: number;
}

/** The way out of a connection: all frames that are sent in one turn leave together. */
export class Outgoing {
  readonly #socket: Socket;
  readonly #later: SharedAlarm;
  #late: Buffer[] | undefined;
  #turn: Turn | undefined;
  #unreadBytes = 0;

  constructor(socket: Socket, later: SharedAlarm) {
    this.#socket = socket;
    this.#later = later;
  }

  /** `written` is called when the system has taken the frame, never where the connection breaks. */
  send(frame: Buffer, written?: () => void): void {
    if (!this.#socket.writable) return;
    if (this.#late) this.#sendLate();
    this.#add(frame);
    if (written) this.#turn?.written.push(written);
  }

  /** For answers that no one waits for: they leave with the next frame, or alone a moment later. */
  sendLater(frame: Buffer): void {
    if (this.#turn || (this.#late?.length ?? 0) >= MOST_LATE) return this.send(frame);
    if (this.#late) return void this.#late.push(frame);
    this.#late = [frame];
    this.#later(() => {
      const late = this.#late ?? [];
      this.#late = undefined;
      for (const each of late) this.send(each);
    });
  }

  /** Hands over what this turn has sent so far, for one who is about to end the connection. */
  flush(): void {
    const turn = this.#turn;
    const socket = this.#socket;
    this.#turn = undefined;
    if (!turn || !socket.writable) return;
    this.#write(turn);
    const taken = (): void => {
      this.#unreadBytes -= turn.unlimitedBytes;
      for (const each of turn.written) each();
    };
    // Mostly the system takes all of it at once; a callback for each write would cost a tick of its own.
    if (socket.writableLength === 0) taken();
    else socket.write(NOTHING, (error) => error || taken());
  }

  #write({ frames, bytes }: Turn): void {
    const socket = this.#socket;
    if (frames.length === 1) return void socket.write(frames[0] as Buffer);
    if (bytes <= MOST_JOINED_BYTES) return void socket.write(Buffer.concat(frames, bytes));
    socket.cork();
    for (const frame of frames) socket.write(frame);
    socket.uncork();
  }

  #sendLate(): void {
    const late = this.#late;
    this.#late = undefined;
    for (const frame of late ?? []) this.#add(frame);
  }

  #add(frame: Buffer): void {
    if (!this.#turn) {
      this.#turn = { frames: [], written: [], bytes: 0, unlimitedBytes: 0 };
      queueMicrotask(() => this.flush());
    }
    const turn = this.#turn;
    if (frame[3] !== FRAME.data) {
      // A client that does not read such frames is cut off.
      if (this.#unreadBytes > MOST_UNREAD_BYTES) return void this.#socket.destroy();
      this.#unreadBytes += frame.length;
      turn.unlimitedBytes += frame.length;
    }
    turn.frames.push(frame);
    turn.bytes += frame.length;
  }
}
