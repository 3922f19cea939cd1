import type { AttachIn, AttachOut, OutputLine } from '../../api/wire/session.ts';
import type { BrowserClock } from '../live/clock.ts';
import type { Connection } from '../live/connection.ts';
import { API } from '../live/request.ts';

/** As much of a WebSocket as is used. */
export type AttachSocket = Pick<WebSocket, 'addEventListener' | 'close' | 'readyState' | 'send'>;

export interface AttachmentDeps {
  readonly open: (path: string) => AttachSocket;
  readonly clock: BrowserClock;
  readonly connection: Connection;
}

/** What becomes of the connection with the terminal of a session. */
export interface AttachmentEvents {
  connected(): void;
  output(bytes: Uint8Array): void;
  /** It is opened again by itself. */
  lost(): void;
  /** For good, with the reason. */
  ended(why: string): void;
}

export interface Attachment {
  send(message: AttachIn): void;
  close(): void;
}

const OPEN = 1;
// RFC 6455 §7.4.1: all was sent; the token may not.
const FINAL_CODES: ReadonlySet<number> = new Set([1000, 1008]);
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 15_000;

const bytesIn = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

function endText({ end: { end } }: Extract<AttachOut, { end: unknown }>): string {
  if (!end) return 'The session has ended.';
  return `The session has ended: ${end.how}${end.how === 'exited' ? ` ${end.exit_code}` : ''}.`;
}

/** Connects with the terminal of a session, again after a lost connection: nothing is shown twice. */
export function attach(session: string, deps: AttachmentDeps, events: AttachmentEvents): Attachment {
  let last: Pick<OutputLine, 'attempt' | 'seq'> | undefined;
  let socket: AttachSocket | undefined;
  let failures = 0;
  let isOver = false;
  let cancelNext = (): void => {};

  function end(why: string): void {
    if (isOver) return;
    isOver = true;
    events.ended(why);
  }

  function take(message: AttachOut): void {
    if ('end' in message) return end(endText(message));
    last = message.output;
    events.output(bytesIn(message.output.data));
  }

  function closed({ code, reason }: CloseEvent): void {
    if (isOver) return;
    if (FINAL_CODES.has(code)) return end(reason || 'The connection to the session has ended.');
    if (deps.connection.state.value === 'ended') return end('This browser is logged out.');
    events.lost();
    cancelNext = deps.clock.after(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures), connect);
    failures += 1;
  }

  function connect(): void {
    const place = last && { attempt: String(last.attempt), after_seq: String(last.seq) };
    const query = place ? `?${new URLSearchParams(place)}` : '';
    const mine = deps.open(`${API}/sessions/${encodeURIComponent(session)}/attach${query}`);
    socket = mine;
    mine.addEventListener('open', () => {
      failures = 0;
      events.connected();
    });
    mine.addEventListener('message', ({ data }: MessageEvent<string>) => {
      if (!isOver) take(JSON.parse(data) as AttachOut);
    });
    mine.addEventListener('close', closed);
  }

  connect();
  return {
    send(message) {
      if (socket?.readyState === OPEN) socket.send(JSON.stringify(message));
    },
    close() {
      isOver = true;
      cancelNext();
      socket?.close();
    },
  };
}
