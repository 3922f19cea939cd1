import type { SharedAlarm } from './shared-alarm.ts';

export interface OutboxOptions {
  /** Runs it a moment later: all that is pushed until then goes together. */
  soon(run: () => void): void;
  /** When to send what may wait, if nothing else is sent before; absent: at once. */
  readonly later?: SharedAlarm;
  /** How large a batch may grow; one that is larger by itself goes alone. */
  readonly batchBytes: number;
  /** How much may wait for a slow reader. */
  readonly limitBytes: number;
  /** Sends one batch; `sent` is called when the connection has taken it. */
  send(batch: readonly Uint8Array[], sent: () => void): void;
  /** The limit was exceeded; nothing more is sent. */
  overflowed(): void;
}

export interface Outbox {
  push(item: Uint8Array): void;
  /** For items that are bounded by other means: they do not count towards the limit. */
  pushUncounted(item: Uint8Array): void;
  /** For items that no caller waits for: they go with the next ones, or alone a moment later. */
  pushLater(item: Uint8Array): void;
  /** Drops what waits. */
  close(): void;
  readonly waitingBytes: number;
}

interface Item {
  readonly bytes: Uint8Array;
  readonly isCounted: boolean;
}

/** A class, since there is one for each agent: closures would take several times its memory. */
class BatchingOutbox implements Outbox {
  readonly #options: OutboxOptions;
  #waiting: Item[] = [];
  #waitingBytes = 0;
  #countedBytes = 0;
  #isScheduled = false;
  #isSending = false;
  #isLater = false;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  push(item: Uint8Array): void {
    this.#add({ bytes: item, isCounted: true });
    this.#schedule();
    this.#checkLimit();
  }

  pushUncounted(item: Uint8Array): void {
    this.#add({ bytes: item, isCounted: false });
    this.#schedule();
  }

  pushLater(item: Uint8Array): void {
    const { later } = this.#options;
    if (!later) return this.push(item);
    this.#add({ bytes: item, isCounted: true });
    this.#checkLimit();
    if (this.#isLater || this.#isScheduled || this.#isSending || this.#isClosed) return;
    this.#isLater = true;
    later(() => {
      this.#isLater = false;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#countedBytes = 0;
  }

  #add(item: Item): void {
    if (this.#isClosed) return;
    this.#waiting.push(item);
    this.#count(item, 1);
  }

  #checkLimit(): void {
    if (this.#countedBytes <= this.#options.limitBytes) return;
    this.close();
    this.#options.overflowed();
  }

  #count({ bytes, isCounted }: Item, sign: 1 | -1): void {
    this.#waitingBytes += sign * bytes.length;
    if (isCounted) this.#countedBytes += sign * bytes.length;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isSending || this.#isClosed) return;
    this.#isScheduled = true;
    this.#options.soon(() => {
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
      bytes += item.bytes.length;
      return at > 0 && bytes > this.#options.batchBytes;
    });
    const batch = cut < 0 ? this.#waiting : this.#waiting.slice(0, cut);
    this.#waiting = cut < 0 ? [] : this.#waiting.slice(cut);
    for (const item of batch) this.#count(item, -1);
    return batch.map((item) => item.bytes);
  }
}

/** Sends all items of one moment, or that came while the last batch was in flight, as one batch. */
export function createOutbox(options: OutboxOptions): Outbox {
  return new BatchingOutbox(options);
}
