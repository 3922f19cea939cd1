import type { BrowserClock } from './clock.ts';
import type { Connection } from './connection.ts';
import { API, type Fetch, noteStatus } from './request.ts';
import { readStream, type StreamMessage } from './stream.ts';

export interface ChangesDeps {
  readonly fetch: Fetch;
  readonly clock: BrowserClock;
  /** Whether anyone can see the page; a hidden one holds no connection. */
  readonly isVisible: () => boolean;
  readonly onVisible: (changed: () => void) => () => void;
  readonly connection: Connection;
  /** What the stream should be now. */
  path(): string;
  receive(message: StreamMessage): void;
}

/** The one stream of a page. */
export interface Changes {
  /** The wanted path may have changed: it is opened anew soon, from the last position that was seen. */
  reopen(): void;
  start(): void;
  stop(): void;
}

const REOPEN_AFTER_MS = 200;
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 15_000;
// Three heartbeats of the server: the network may be gone, and the browser would not notice for minutes.
const SILENT_AFTER_MS = 45_000;

export function openChanges(deps: ChangesDeps): Changes {
  const { fetch, clock, connection } = deps;
  let position: string | undefined;
  let opened: { readonly path: string; readonly over: AbortController } | undefined;
  let failures = 0;
  let cancelOpen = (): void => {};
  let cancelSilence = (): void => {};
  let unwatch: (() => void) | undefined;

  function listen(over: AbortController): void {
    cancelSilence();
    cancelSilence = clock.after(SILENT_AFTER_MS, () => over.abort());
  }

  async function read(path: string, over: AbortController): Promise<void> {
    const headers: Record<string, string> = position === undefined ? {} : { 'last-event-id': position };
    const response = await fetch(API + path, { headers, signal: over.signal, credentials: 'same-origin' });
    noteStatus(response.status, connection);
    if (!response.ok || !response.body) return;
    for await (const what of readStream(response.body)) {
      if (over.signal.aborted) return;
      listen(over);
      take(what);
    }
  }

  function take(message: StreamMessage): void {
    connection.answered();
    position = message.position ?? position;
    if (message.kind === 'hello' || message.kind === 'reset') failures = 0;
    deps.receive(message);
  }

  function close(): void {
    cancelSilence();
    opened?.over.abort();
    opened = undefined;
  }

  function ended(): void {
    close();
    failures += 1;
    schedule(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1)));
  }

  function open(): void {
    if (!unwatch || !deps.isVisible() || connection.state.value === 'ended') return close();
    const path = deps.path();
    if (opened?.path === path) return;
    close();
    const mine = { path, over: new AbortController() };
    opened = mine;
    listen(mine.over);
    read(path, mine.over)
      .catch(() => {
        if (opened === mine) connection.failed();
      })
      .finally(() => {
        if (opened === mine) ended();
      });
  }

  function schedule(delayMs: number): void {
    cancelOpen();
    cancelOpen = clock.after(delayMs, open);
  }

  return {
    reopen: () => schedule(failures > 0 ? FIRST_BACKOFF_MS : REOPEN_AFTER_MS),
    start() {
      unwatch ??= deps.onVisible(() => schedule(0));
      open();
    },
    stop() {
      unwatch?.();
      unwatch = undefined;
      cancelOpen();
      close();
    },
  };
}
