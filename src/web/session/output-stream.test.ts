import { describe, expect, it } from 'vitest';
import type { OutputLine } from '../../api/wire/session.ts';
import { recordedServer, settled } from '../testing/recorded-server.ts';
import { type FollowOutput, followOutput } from './output-stream.ts';

/** An output that a test writes, and what the page gets of it. */
function followed(more: Partial<FollowOutput> = {}) {
  const server = recordedServer();
  const { live } = server;
  const urls: URL[] = [];
  const signals: AbortSignal[] = [];
  const taken: string[] = [];
  const problems: unknown[] = [];
  let to: ReadableStreamDefaultController<Uint8Array>;
  let status: number | 'unreachable' = 200;
  let hasEnded = false;
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    urls.push(new URL(url, 'http://127.0.0.1'));
    if (status === 'unreachable') throw new TypeError('fetch failed');
    if (status !== 200) return Response.json({ kind: 'denied', detail: 'The cause.' }, { status });
    const signal = init.signal as AbortSignal;
    signals.push(signal);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        to = controller;
        signal.addEventListener('abort', () => controller.error(new DOMException('aborted', 'AbortError')));
      },
    });
    return new Response(body);
  };
  const stop = followOutput(
    { ...live, fetch },
    {
      session: 's/1',
      take: (pieces) => void taken.push(pieces.map(({ seq }) => seq).join()),
      hasEnded: async () => hasEnded,
      refused: (problem) => void problems.push(problem),
      ...more,
    },
  );
  const sendText = (text: string): void => to.enqueue(new TextEncoder().encode(text));
  const line = (seq: number, attempt = 1): OutputLine => ({ seq, attempt, stream: 'stdout', at: '', data: '' });
  return {
    ...server,
    urls,
    signals,
    taken,
    problems,
    stop,
    sendText,
    async write(...seqs: readonly number[]) {
      for (const seq of seqs) sendText(`${JSON.stringify(line(seq))}\n`);
      await settled();
    },
    async end(has: boolean) {
      hasEnded = has;
      to.close();
      await settled();
    },
    async cut() {
      to.error(new TypeError('network'));
      await settled();
    },
    answer(with_: number | 'unreachable') {
      status = with_;
    },
  };
}

describe('the output of a session', () => {
  it('is taken at most four times a second', async () => {
    const { clock, write, taken } = followed();
    await clock.pass(0);
    await write(1, 2, 3);
    await clock.pass(249);
    expect(taken).toEqual([]);

    await clock.pass(1);
    await write(4);
    await clock.pass(250);
    expect(taken).toEqual(['1,2,3', '4']);
  });

  it('goes on behind the last piece after a lost connection, and names the attempt', async () => {
    const { clock, write, cut, urls, taken, live } = followed({ tailLines: 10 });
    await clock.pass(0);
    await write(1, 2);
    await cut();
    expect(live.connection.state.value).toBe('offline');
    await clock.pass(1_000);
    await write(3);
    await clock.pass(250);

    expect(urls.map(({ pathname, search }) => pathname + search)).toEqual([
      '/api/v1/sessions/s%2F1/output?follow=1&tail=10',
      '/api/v1/sessions/s%2F1/output?follow=1&attempt=1&after_seq=2',
    ]);
    expect(taken).toEqual(['1,2', '3']);
    expect(live.connection.state.value).toBe('live');
  });

  it('waits longer and longer for a server that is away', async () => {
    const { clock, cut, answer, urls } = followed();
    await clock.pass(0);
    answer('unreachable');
    await cut();
    await clock.pass(60_000);

    // After 1, 2, 4, 8, then every 15 seconds.
    expect(urls).toHaveLength(1 + 4 + 3);
  });

  it('is asked for no more once the session has ended, and again when only the connection has', async () => {
    const { clock, end, urls } = followed();
    await clock.pass(0);
    await end(false);
    await clock.pass(1_000);
    expect(urls).toHaveLength(2);

    await end(true);
    await clock.pass(60_000);
    expect(urls).toHaveLength(2);
  });

  it('is given up when nothing is heard for three signs of life, and asked for again', async () => {
    const { clock, sendText, signals } = followed();
    await clock.pass(0);
    await clock.pass(40_000);
    sendText('\n');
    await clock.pass(40_000);
    expect(signals).toHaveLength(1);

    await clock.pass(6_000);
    expect([signals[0]?.aborted, signals.length]).toEqual([true, 2]);
  });

  it('is given back while no one sees the page', async () => {
    const { clock, write, setVisible, signals, urls } = followed();
    await clock.pass(0);
    await write(1);
    setVisible(false);
    await clock.pass(60_000);
    expect([signals[0]?.aborted, signals.length]).toEqual([true, 1]);

    setVisible(true);
    await clock.pass(0);
    expect(urls[1]?.search).toBe('?follow=1&attempt=1&after_seq=1');
  });

  it('is not asked for again when it is refused, with what the server says', async () => {
    const { clock, cut, answer, problems, urls } = followed();
    await clock.pass(0);
    answer(403);
    await cut();
    await clock.pass(60_000);

    expect(problems).toMatchObject([{ kind: 'denied', detail: 'The cause.' }]);
    expect(urls).toHaveLength(2);
  });

  it('ends with the token, and with the page', async () => {
    const revoked = followed();
    await revoked.clock.pass(0);
    revoked.answer(401);
    await revoked.cut();
    await revoked.clock.pass(60_000);
    expect([revoked.urls.length, revoked.live.connection.state.value]).toEqual([2, 'ended']);

    const left = followed();
    await left.clock.pass(0);
    left.stop();
    await left.clock.pass(60_000);
    expect([left.signals[0]?.aborted, left.urls.length]).toEqual([true, 1]);
  });
});
