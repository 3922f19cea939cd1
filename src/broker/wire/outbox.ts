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

/** A class, since there is one for each agent: closures would take several times its memory. */
class BatchingOutbox implements Outbox {
  readonly #options: OutboxOptions;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isScheduled = false;
  #isSending = false;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  push(item: Uint8Array): void {
    if (this.#isClosed) return;
    this.#waiting.push(item);
    this.#waitingBytes += item.length;
    if (this.#waitingBytes <= this.#options.limitBytes) return this.#schedule();
    this.close();
    this.#options.overflowed();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isSending || this.#isClosed) return;
    this.#isScheduled = true;
    this.#options.clock.soon(() => {
      this.#isScheduled = false;
      this.#sendNext();
    });
  }

  #sendNext(): void {
    if (this.#isClosed || this.#waiting.length === 0) return;
    const batch = this.#takeBatch();
    this.#isSending = true;
    this.#options.send(batch, () => {
      this.#isSending = false;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #takeBatch(): Uint8Array[] {
    let bytes = 0;
    const cut = this.#waiting.findIndex((item, at) => {
      bytes += item.length;
      return at > 0 && bytes > this.#options.batchBytes;
    });
    const batch = cut < 0 ? this.#waiting : this.#waiting.slice(0, cut);
    this.#waiting = cut < 0 ? [] : this.#waiting.slice(cut);
    for (const item of batch) this.#waitingBytes -= item.length;
    return batch;
  }
}

/** Sends all that came up within one turn, or while the last batch was on its way, as one batch. */
export function createOutbox(options: OutboxOptions): Outbox {
  return new BatchingOutbox(options);
}
