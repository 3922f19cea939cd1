// Callers of the API, each on a connection of its own that it keeps: the next request leaves when the answer is there, or
// when an agent of this program has the session.
import { connect, type Socket } from 'node:net';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openAgents } from '../parts/answering-agents.ts';
import { machineNow } from '../parts/moments.ts';
import { percentile } from '../parts/numbers.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface Calling {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly pool: string;
  readonly callers: number;
  /** 1 posts a session, more a list. */
  readonly sessionsPerPost: number;
  readonly forMs: number;
  /** Each waits until an agent of this program has its session, as one does who waits for the end of a session. */
  readonly waitsForAgent?: boolean | undefined;
  /** All callers together; absent: as fast as they can. */
  readonly postsPerS?: number | undefined;
}

export interface Called {
  readonly accepted: number;
  readonly tookMs: number;
  readonly answerP50Ms: number;
  readonly answerP99Ms: number;
}

const FULL_QUEUE_MS = 100;

/** Callers whose session no agent has yet, by the time that stands in its command. */
const waiting = new Map<string, () => void>();
const agents = openAgents((moment) => {
  waiting.get(moment)?.();
  waiting.delete(moment);
});

/** One request: it is over when it was answered, and with `waitsForAgent` when an agent has the session too. */
interface Posted {
  resolve(isAccepted: boolean): void;
  reject(thrown: unknown): void;
  isAnswered: boolean;
  hasArrived: boolean;
}

/** The little of HTTP/1.1 that this takes: a fetch for each request would cost more than the server's answer. */
function openCaller({ host, port, token, pool, sessionsPerPost, waitsForAgent = false }: Calling) {
  const socket: Socket = connect({ host, port, noDelay: true });
  let received = '';
  let posted: Posted | undefined;
  const head = `POST /api/v1/sessions HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `;

  function bodyAt(moment: string): string {
    const one = `{"pool":"${pool}","command":["true","${moment}"]}`;
    return sessionsPerPost === 1 ? one : `[${Array.from({ length: sessionsPerPost }, () => one).join(',')}]`;
  }

  function answered(answer: string): void {
    if (!posted) return;
    if (answer.startsWith('HTTP/1.1 429')) return posted.resolve(false);
    if (!answer.startsWith('HTTP/1.1 201'))
      return posted.reject(new Fault('internal', `The server answered: ${answer}`));
    posted.isAnswered = true;
    if (posted.hasArrived) posted.resolve(true);
  }

  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (received.length < end + 4 + length) return;
    const answer = received;
    received = '';
    answered(answer);
  });
  socket.on('error', (error) => posted?.reject(error));

  return {
    /** Answers false where the queue of the pool is full. */
    post(): Promise<boolean> {
      return new Promise((resolve, reject) => {
        const moment = String(machineNow());
        const one: Posted = { resolve, reject, isAnswered: false, hasArrived: !waitsForAgent };
        posted = one;
        if (waitsForAgent)
          waiting.set(moment, () => {
            one.hasArrived = true;
            if (one.isAnswered) resolve(true);
          });
        const text = bodyAt(moment);
        socket.write(`${head}${text.length}\r\n\r\n${text}`);
      });
    },
    close: () => socket.destroy(),
  };
}

async function call(calling: Calling): Promise<Called> {
  const { callers: count, forMs, postsPerS, sessionsPerPost } = calling;
  const waitsMs: number[] = [];
  const startMs = systemClock.monotonic();
  const endMs = startMs + forMs;
  const spacingMs = postsPerS === undefined ? 0 : (count * 1_000) / postsPerS;

  async function callAgain(at: number): Promise<void> {
    const caller = openCaller(calling);
    let nextMs = startMs + (at * spacingMs) / count;
    for (;;) {
      if (spacingMs > 0) await systemClock.sleep(Math.max(0, nextMs - systemClock.monotonic()));
      const sentMs = systemClock.monotonic();
      if (sentMs >= endMs) break;
      if (await caller.post()) waitsMs.push(systemClock.monotonic() - sentMs);
      else await systemClock.sleep(FULL_QUEUE_MS);
      nextMs += spacingMs;
    }
    caller.close();
  }

  await Promise.all(Array.from({ length: count }, (_, at) => callAgain(at)));
  return {
    accepted: waitsMs.length * sessionsPerPost,
    tookMs: systemClock.monotonic() - startMs,
    answerP50Ms: percentile(waitsMs, 0.5),
    answerP99Ms: percentile(waitsMs, 0.99),
  };
}

const calls = { call, ...agents } satisfies Calls;

export type CallerCalls = typeof calls;

serveCalls(calls);
