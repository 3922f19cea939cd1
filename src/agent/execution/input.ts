import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** Bytes on their way into a run's stdin or terminal. */
export interface Input {
  /** False if too much input waits already. */
  write(data: Uint8Array, isLast: boolean): boolean;
  /** Bytes that a reader has taken, or that no reader will ever take. */
  readonly takenBytes: number;
  /** The run is ready to read: waiting input is written. */
  open(): void;
  close(): void;
}

// A server of an earlier version does not slow down for one run, so the buffer needs a limit.
const MOST_WAITING_BYTES = 32 * 2 ** 20;

// Without a reader this fails at once instead of blocking a thread of the pool.
const TO_READER = constants.O_WRONLY | constants.O_NONBLOCK;

/** `taken` is called whenever `takenBytes` has grown. */
export function openInput(pipesPath: () => string, taken: () => void): Input {
  let isReady = false;
  let isEnded = false;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let pipe: Socket | undefined;
  let takenBytes = 0;

  function count(bytes: number): void {
    takenBytes += bytes;
    taken();
  }

  function openPipe(): Socket | undefined {
    try {
      const opened = new Socket({ fd: openSync(join(pipesPath(), 'in'), TO_READER), readable: false, writable: true });
      // The run has closed its stdin or has ended: further input has no reader.
      opened.on('error', () => opened.destroy());
      return opened;
    } catch {
      return undefined;
    }
  }

  function flush(): void {
    if (!isReady) return;
    const data = waiting;
    waiting = [];
    waitingBytes = 0;
    if (data.length > 0) pipe ??= openPipe();
    for (const part of data) {
      if (pipe?.writable) pipe.write(part, () => count(part.length));
      else count(part.length);
    }
    if (isEnded) end();
  }

  function end(): void {
    if (pipe) pipe.end(letGo);
    else letGo();
  }

  // Opening `eof` wakes the process that holds the writing end; it goes, and the reader finds the end.
  function letGo(): void {
    try {
      closeSync(openSync(join(pipesPath(), 'eof'), TO_READER));
    } catch {
      // It has already ended with the run.
    }
  }

  return {
    get takenBytes() {
      return takenBytes;
    },
    write(data, isLast) {
      if (isEnded) return true;
      waiting.push(data);
      waitingBytes += data.length;
      isEnded = isLast;
      const hasRoom = waitingBytes + (pipe?.writableLength ?? 0) <= MOST_WAITING_BYTES;
      flush();
      return hasRoom;
    },
    open() {
      isReady = true;
      flush();
    },
    close() {
      waiting = [];
      pipe?.destroy();
    },
  };
}
