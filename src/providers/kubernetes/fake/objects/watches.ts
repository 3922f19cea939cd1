import type { Clock } from '#core/clock.ts';
import { brokenConnection } from '#fakes/failure-rules.ts';

/** One open watch, as a stream of lines of JSON. */
export interface OpenWatch {
  readonly response: Response;
  send(line: string): void;
  /** Ends it as the server does when its time is over. */
  end(): void;
}

/** Open watches that tests may trouble; of one resource by its plural, or all. */
export interface Watches {
  open(plural: string, signal: AbortSignal, closed: () => void): OpenWatch;
  count(plural?: string): number;
  /** Half open: no more bytes, and the connection stays. */
  stall(plural?: string): void;
  /** Ends them in order, as a server that sheds slow readers: no error. */
  cut(plural?: string): void;
  /** Breaks the connections. */
  reset(plural?: string): void;
}

interface Kept extends OpenWatch {
  readonly plural: string;
  stall(): void;
  fail(reason: unknown): void;
}

const encoder = new TextEncoder();

function openStream(plural: string, clock: Clock, closed: () => void): Kept {
  let isOpen = true;
  let isStalled = false;
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const over = (): boolean => {
    const was = isOpen;
    isOpen = false;
    if (was) closed();
    return was;
  };
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      over();
    },
  });
  return {
    plural,
    response: new Response(stream, {
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    }),
    send(line) {
      if (isOpen && !isStalled) controller.enqueue(encoder.encode(`${line}\n`));
    },
    end() {
      // What was sent in this instant is read before the end.
      if (!isStalled && over()) clock.soon(() => controller.close());
    },
    stall() {
      isStalled = true;
    },
    fail(reason) {
      if (over()) controller.error(reason);
    },
  };
}

export function openWatches(clock: Clock): Watches {
  const all = new Set<Kept>();
  const those = (plural: string | undefined): Kept[] =>
    [...all].filter((one) => plural === undefined || one.plural === plural);
  return {
    open(plural, signal, closed) {
      const abort = (): void => watch.fail(signal.reason);
      const watch = openStream(plural, clock, () => {
        all.delete(watch);
        signal.removeEventListener('abort', abort);
        closed();
      });
      all.add(watch);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      return watch;
    },
    count: (plural) => those(plural).length,
    stall(plural) {
      for (const watch of those(plural)) watch.stall();
    },
    cut(plural) {
      for (const watch of those(plural)) watch.end();
    },
    reset(plural) {
      for (const watch of those(plural)) watch.fail(brokenConnection());
    },
  };
}
