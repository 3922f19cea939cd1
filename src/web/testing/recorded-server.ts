import type { BrowserClock } from '../live/clock.ts';
import { type Live, openLive } from '../live/live.ts';

/** A clock that stands still until a test moves it. */
export interface HeldClock extends BrowserClock {
  /** Runs what is due, with what that starts. */
  pass(ms: number): Promise<void>;
}

/** Lets everything that promises have started run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 500; turn++) await Promise.resolve();
}

function heldClock(): HeldClock {
  let nowMs = Date.UTC(2026, 0, 1, 12);
  const alarms = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const alarm = { atMs: nowMs + delayMs, run };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    async pass(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        await settled();
        const [next] = [...alarms].filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs);
        if (!next) break;
        alarms.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
      }
      nowMs = endMs;
      await settled();
    },
  };
}

/** One stream of changes that the page has open, or had. */
export interface OpenStream {
  readonly url: URL;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
  /** As the server sends it. */
  send(event: string, id: string, data: unknown): void;
  sendText(text: string): void;
  end(): void;
}

/** A server that answers as a test says, and the page that asks it. */
export interface RecordedServer {
  readonly live: Live;
  readonly clock: HeldClock;
  readonly streams: readonly OpenStream[];
  /** When a stream was asked for, also in vain. */
  readonly streamTimesMs: readonly number[];
  /** What was asked for, without the streams. */
  readonly asked: readonly string[];
  /** By path below `/api/v1`: a value, a status with a problem, or a promise of either. */
  readonly answers: Map<string, () => unknown>;
  /** What the next streams are refused with. */
  refuseStreams(status: number | 'unreachable' | undefined): void;
  setVisible(isVisible: boolean): void;
}

export class Refusal {
  readonly status: number;
  readonly body: object;
  constructor(status: number, body: object) {
    this.status = status;
    this.body = body;
  }
}

export function recordedServer(): RecordedServer {
  const clock = heldClock();
  const streams: OpenStream[] = [];
  const streamTimesMs: number[] = [];
  const asked: string[] = [];
  const answers = new Map<string, () => unknown>();
  let refusal: number | 'unreachable' | undefined;
  let isVisible = true;
  const watchers = new Set<() => void>();

  function stream(url: URL, init: RequestInit): Response {
    streamTimesMs.push(clock.now());
    if (refusal === 'unreachable') throw new TypeError('fetch failed');
    if (refusal !== undefined) return new Response('{}', { status: refusal });
    let to: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        to = controller;
      },
    });
    const sendText = (text: string): void => to.enqueue(new TextEncoder().encode(text));
    const signal = init.signal as AbortSignal;
    signal.addEventListener('abort', () => to.error(new DOMException('aborted', 'AbortError')));
    streams.push({
      url,
      signal,
      lastEventId: (init.headers as Record<string, string>)['last-event-id'],
      sendText,
      send: (event, id, data) => sendText(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`),
      end: () => to.close(),
    });
    return new Response(body);
  }

  const live = openLive({
    async fetch(path, init) {
      const url = new URL(path, 'http://127.0.0.1');
      const below = url.pathname.replace('/api/v1', '');
      if (below === '/changes') return stream(url, init);
      asked.push(below + url.search);
      const answer = await (answers.get(below + url.search) ?? answers.get(below))?.();
      if (answer === undefined) throw new TypeError('fetch failed');
      return answer instanceof Refusal
        ? Response.json(answer.body, { status: answer.status })
        : Response.json(answer as object);
    },
    clock,
    isVisible: () => isVisible,
    onVisible(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
  });
  return {
    live,
    clock,
    streams,
    streamTimesMs,
    asked,
    answers,
    refuseStreams(status) {
      refusal = status;
    },
    setVisible(to) {
      isVisible = to;
      for (const changed of watchers) changed();
    },
  };
}
