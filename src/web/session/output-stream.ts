import type { HttpProblem } from '../../api/wire/problem.ts';
import type { OutputLine } from '../../api/wire/session.ts';
import type { BrowserClock } from '../live/clock.ts';
import type { Connection } from '../live/connection.ts';
import { partsOfStream } from '../live/parts-of-stream.ts';
import { API, type Fetch, noteStatus, problemIn } from '../live/request.ts';

export interface OutputStreamDeps {
  readonly fetch: Fetch;
  readonly clock: BrowserClock;
  readonly isVisible: () => boolean;
  readonly onVisible: (changed: () => void) => () => void;
  readonly connection: Connection;
}

export interface FollowOutput {
  readonly session: string;
  /** Only the last lines, where there is more than a page keeps. */
  readonly tailLines?: number | undefined;
  /** Some pieces that came since the last call. */
  take(pieces: readonly OutputLine[]): void;
  /** The server has sent all: whether the session has ended, or the connection was cut. */
  hasEnded(): Promise<boolean>;
  /** The server does not show it; it is not asked again. */
  refused(problem: HttpProblem): void;
}

const APPLY_EVERY_MS = 250;
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 15_000;
// Three signs of life of the server.
const SILENT_AFTER_MS = 45_000;

/** Reads lines of JSON until the stream ends or breaks; an empty line is a sign of life. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<OutputLine | undefined> {
  for await (const line of partsOfStream(body, '\n')) yield line === '' ? undefined : (JSON.parse(line) as OutputLine);
}

/** Follows an output to its end, over lost connections, while the page is visible. Call the returned function to stop. */
export function followOutput(deps: OutputStreamDeps, follow: FollowOutput): () => void {
  const { fetch, clock, connection } = deps;
  const { session, tailLines, take, hasEnded } = follow;
  let last: Pick<OutputLine, 'attempt' | 'seq'> | undefined;
  let waiting: OutputLine[] = [];
  let over: AbortController | undefined;
  let failures = 0;
  let isDone = false;
  let cancelNext = (): void => {};
  let cancelApply: (() => void) | undefined;
  let cancelSilence = (): void => {};

  function apply(): void {
    cancelApply = undefined;
    const pieces = waiting;
    waiting = [];
    if (pieces.length > 0) take(pieces);
  }

  function came(line: OutputLine | undefined): void {
    connection.answered();
    failures = 0;
    if (!line) return;
    last = line;
    waiting.push(line);
    cancelApply ??= clock.after(APPLY_EVERY_MS, apply);
  }

  function path(): string {
    const place = last
      ? { attempt: String(last.attempt), after_seq: String(last.seq) }
      : tailLines !== undefined && { tail: String(tailLines) };
    const query = new URLSearchParams({ follow: '1', ...place });
    return `${API}/sessions/${encodeURIComponent(session)}/output?${query}`;
  }

  async function read({ signal }: AbortController, heard: () => void): Promise<void> {
    const response = await fetch(path(), { signal, credentials: 'same-origin' });
    noteStatus(response.status, connection);
    if (response.status >= 400 && response.status < 500 && response.status !== 401) {
      isDone = true;
      return follow.refused(await problemIn(response));
    }
    if (!response.ok || !response.body) return;
    for await (const line of linesOf(response.body)) {
      if (signal.aborted) return;
      heard();
      came(line);
    }
    apply();
    isDone = await hasEnded();
  }

  function close(): void {
    cancelSilence();
    over?.abort();
    over = undefined;
  }

  function again(): void {
    close();
    if (isDone || connection.state.value === 'ended') return;
    failures += 1;
    cancelNext();
    cancelNext = clock.after(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1)), open);
  }

  function open(): void {
    cancelNext();
    if (!deps.isVisible()) return close();
    if (over || isDone) return;
    const mine = new AbortController();
    over = mine;
    const heard = (): void => {
      cancelSilence();
      cancelSilence = clock.after(SILENT_AFTER_MS, () => mine.abort());
    };
    heard();
    read(mine, heard)
      .catch(() => {
        if (over === mine) connection.failed();
      })
      .finally(() => {
        if (over === mine) again();
      });
  }

  const unwatch = deps.onVisible(open);
  open();
  return () => {
    isDone = true;
    unwatch();
    cancelNext();
    cancelApply?.();
    close();
  };
}
