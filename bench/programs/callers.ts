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

/** The little of HTTP/1.1 that this takes: a fetch for each request would cost more than the server's answer. */
function openCaller({ host, port, token, pool, sessionsPerPost, waitsForAgent = false }: Calling) {
  const socket: Socket = connect({ host, port, noDelay: true });
  let received = '';
  let answered: ((answer: string) => void) | undefined;
  const head = `POST /api/v1/sessions HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `;

  function bodyAt(moment: string): string {
    const one = `{"pool":"${pool}","command":["true","${moment}"]}`;
    return sessionsPerPost === 1 ? one : `[${Array.from({ length: sessionsPerPost }, () => one).join(',')}]`;
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
    answered?.(answer);
  });
  const failed = new Promise<never>((_, reject) => socket.on('error', reject));
  failed.catch(() => {});

  return {
    /** Answers false where the queue of the pool is full. */
    async post(): Promise<boolean> {
      const moment = String(machineNow());
      const text = bodyAt(moment);
      const answer = new Promise<string>((resolve) => (answered = resolve));
      const arrived = new Promise<void>((resolve) => {
        if (waitsForAgent) waiting.set(moment, resolve);
        else resolve();
      });
      socket.write(`${head}${text.length}\r\n\r\n${text}`);
      const got = await Promise.race([answer, failed]);
      if (got.startsWith('HTTP/1.1 429')) return false;
      if (!got.startsWith('HTTP/1.1 201')) throw new Fault('internal', `The server answered: ${got}`);
      await arrived;
      return true;
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
