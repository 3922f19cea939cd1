import type { Clock } from '#core/clock.ts';

export interface OutboxOptions {
  readonly clock: Pick<Clock, 'soon'>;
  /** How large a batch may grow; one that is larger by itself goes alone. */
  readonly batchBytes: number;
  /** How much may wait for a reader that is slow. */
  readonly limitBytes: number;
  /** Hands one batch on; `sent` is called when the connection has taken it. */
  send(batch: readonly Uint8Array[], sent: () => void): void;
  /** More waits than may; nothing is sent any more. */
  overflowed(): void;
}

export interface Outbox {
  push(item: Uint8Array): void;
  /** Forgets what waits. */
  close(): void;
  readonly waitingBytes: number;
}

/** Sends all that came up within one turn, or while the last batch was on its way, as one batch. */
export function createOutbox(options: OutboxOptions): Outbox {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isScheduled = false;
  let isSending = false;
  let isClosed = false;

  function schedule(): void {
    if (isScheduled || isSending || isClosed) return;
    isScheduled = true;
    options.clock.soon(() => {
      isScheduled = false;
      sendNext();
    });
  }

  function sendNext(): void {
    if (isClosed || waiting.length === 0) return;
    const batch = takeBatch();
    isSending = true;
    options.send(batch, () => {
      isSending = false;
      if (waiting.length > 0) schedule();
    });
  }

  function takeBatch(): Uint8Array[] {
    let bytes = 0;
    const cut = waiting.findIndex((item, at) => {
      bytes += item.length;
      return at > 0 && bytes > options.batchBytes;
    });
    const batch = cut < 0 ? waiting : waiting.slice(0, cut);
    waiting = cut < 0 ? [] : waiting.slice(cut);
    for (const item of batch) waitingBytes -= item.length;
    return batch;
  }

  function close(): void {
    isClosed = true;
    waiting = [];
    waitingBytes = 0;
  }

  return {
    push(item) {
      if (isClosed) return;
      waiting.push(item);
      waitingBytes += item.length;
      if (waitingBytes <= options.limitBytes) return schedule();
      close();
      options.overflowed();
    },
    close,
    get waitingBytes() {
      return waitingBytes;
    },
  };
}
