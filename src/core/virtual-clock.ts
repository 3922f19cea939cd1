import { type Clock, sleepOn } from './clock.ts';

interface Alarm {
  readonly atMs: number;
  readonly order: number;
  ring: (() => void) | undefined;
}

/** As `queueMicrotask`, which would make a resource of each for those who trace them. */
const DONE = Promise.resolve();
const soon = (run: () => void): void => void DONE.then(run);

const isEarlier = (a: Alarm, b: Alarm): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A clock that stands still until a test advances it; alarms ring in order of time, then of setting. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #startMs: number;
  #jumpMs = 0;
  #order = 0;
  #alarms: Alarm[] = [];
  /** How many of them will not ring: most are set far ahead, and cancelled soon after. */
  #cancelled = 0;
  #soon: (() => void)[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
    this.#startMs = startMs;
  }

  /** In whole milliseconds, as every computer's. */
  now(): number {
    return Math.floor(this.#nowMs + this.#jumpMs);
  }

  monotonic(): number {
    return this.#nowMs - this.#startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  alarm(ms: number, ring: () => void): () => void {
    const alarm: Alarm = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, ring };
    this.#push(alarm);
    return () => {
      if (!alarm.ring) return;
      alarm.ring = undefined;
      this.#cancelled += 1;
      if (this.#cancelled > this.#alarms.length / 2) this.#forgetCancelled();
    };
  }

  /** Sets the wall clock, as an operator or NTP would; spans and alarms are not touched. */
  jump(ms: number): void {
    this.#jumpMs += ms;
  }

  /** When the next alarm rings, in milliseconds from now. */
  nextAlarmMs(): number | undefined {
    while (this.#alarms[0] && !this.#alarms[0].ring) {
      this.#cancelled -= 1;
      this.#pop();
    }
    return this.#alarms[0] && this.#alarms[0].atMs - this.#nowMs;
  }

  /** Lets `ms` pass: everything due happens, and all that follows from it, before this resolves. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.settle();
    while (this.#isAlarmDueBy(endMs)) {
      await this.#ringUntil(endMs);
      await this.settle();
    }
    this.#nowMs = endMs;
  }

  /** Finishes all that can happen without time passing. */
  async settle(): Promise<void> {
    do {
      await this.#ringUntil(Number.NEGATIVE_INFINITY);
      // What streams, sockets and files have to say comes before the next immediate, or with it.
      await new Promise(setImmediate);
    } while (this.#soon.length > 0);
  }

  /** Without a turn of the event loop: a simulated day has hundreds of thousands of instants, and nothing in it comes from outside. */
  #ringUntil(endMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const follow = (): void => {
        this.#runSoon();
        // All promise callbacks, however deeply chained, run before a tick that one of them asks for.
        process.nextTick(soon, step);
      };
      const step = (): void => {
        try {
          if (this.#soon.length === 0) {
            if (!this.#isAlarmDueBy(endMs)) return resolve();
            this.#nowMs = (this.#alarms[0] as Alarm).atMs;
            this.#ringDue();
          }
          follow();
        } catch (thrown) {
          reject(thrown);
        }
      };
      follow();
    });
  }

  #runSoon(): void {
    const ready = this.#soon;
    if (ready.length === 0) return;
    this.#soon = [];
    for (const run of ready) run();
  }

  #isAlarmDueBy(endMs: number): boolean {
    const waitMs = this.nextAlarmMs();
    return waitMs !== undefined && this.#nowMs + waitMs <= endMs;
  }

  #ringDue(): void {
    for (let next = this.#alarms[0]; next && next.atMs <= this.#nowMs; next = this.#alarms[0]) {
      this.#pop();
      const { ring } = next;
      if (!ring) this.#cancelled -= 1;
      next.ring = undefined;
      ring?.();
    }
  }

  #forgetCancelled(): void {
    // An array in order of time is a heap.
    this.#alarms = this.#alarms.filter(({ ring }) => ring).sort((a, b) => a.atMs - b.atMs || a.order - b.order);
    this.#cancelled = 0;
  }

  #push(alarm: Alarm): void {
    const heap = this.#alarms;
    let at = heap.push(alarm) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Alarm;
      if (!isEarlier(alarm, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = alarm;
  }

  #pop(): void {
    const heap = this.#alarms;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isEarlier(heap[child + 1] as Alarm, heap[child] as Alarm)) child += 1;
      if (!isEarlier(heap[child] as Alarm, last)) break;
      heap[at] = heap[child] as Alarm;
      at = child;
    }
    heap[at] = last;
  }
}
