import { describe, expect, it } from 'vitest';
import { recordedServer } from '../testing/recorded-server.ts';
import type { Followed } from './live.ts';

/** Follows some pools, and notes each change. */
function follower(ids: readonly string[]) {
  const noted: unknown[] = [];
  const followed: Followed = {
    table: 'pools',
    ids,
    changed: (id, row) => void noted.push([id, row]),
    reset: () => void noted.push('reset'),
  };
  return { noted, followed };
}

const change = (id: string, n: number) => ({ table: 'pools', id, row: { id, n } });

describe('the stream of a page', () => {
  it('names only the rows that are followed, and opens anew when these are others', async () => {
    const { live, clock, streams } = recordedServer();
    live.start();
    await clock.pass(0);
    const stop = live.follow(follower(['p1', 'p2']).followed);
    live.follow({ ...follower(['w1']).followed, table: 'workers' });
    await clock.pass(200);

    expect(streams.map(({ url }) => url.search)).toEqual([
      '?tables=pools&ids=-',
      '?tables=pools%2Cworkers&ids=p1%2Cp2%2Cw1',
    ]);
    expect(streams[0]?.signal.aborted).toBe(true);

    stop();
    await clock.pass(200);
    expect(streams[2]?.url.search).toBe('?tables=workers&ids=w1');
  });

  it('names at most 200 rows, however many are followed', async () => {
    const { live, clock, streams } = recordedServer();
    live.start();
    live.follow(follower(Array.from({ length: 500 }, (_, at) => `p${at}`)).followed);
    await clock.pass(200);

    expect(streams.at(-1)?.url.searchParams.get('ids')?.split(',')).toHaveLength(200);
  });

  it('goes on from the last position that was seen, so that nothing is missed between two streams', async () => {
    const { live, clock, streams } = recordedServer();
    live.start();
    await clock.pass(0);
    streams[0]?.send('hello', '1-5', {});
    await clock.pass(0);
    live.follow(follower(['p1']).followed);
    await clock.pass(200);
    streams[1]?.send('change', '1-9', change('p1', 1));
    await clock.pass(0);
    streams[1]?.end();
    await clock.pass(1_000);

    expect(streams.map(({ lastEventId }) => lastEventId)).toEqual([undefined, '1-5', '1-9']);
  });

  it('applies changes at most four times a second, each row as it was last', async () => {
    const { live, clock, streams } = recordedServer();
    const { noted, followed } = follower(['p1', 'p2']);
    live.start();
    live.follow(followed);
    await clock.pass(200);
    for (let n = 1; n <= 5; n++) streams.at(-1)?.send('change', `1-${n}`, change('p1', n));
    streams.at(-1)?.send('change', '1-6', { table: 'pools', id: 'p2' });
    await clock.pass(249);
    expect(noted).toEqual([]);

    await clock.pass(1);
    expect(noted).toEqual([
      ['p1', { id: 'p1', n: 5 }],
      ['p2', undefined],
    ]);
  });

  it('lists everything again after a reset, and forgets the changes before it', async () => {
    const { live, clock, streams } = recordedServer();
    const { noted, followed } = follower(['p1']);
    live.start();
    live.follow(followed);
    await clock.pass(200);
    streams.at(-1)?.send('change', '1-1', change('p1', 1));
    streams.at(-1)?.send('reset', '2-0', {});
    await clock.pass(1_000);

    expect(noted).toEqual(['reset']);
  });

  it('reads changes whole, wherever the network cuts them', async () => {
    const { live, clock, streams } = recordedServer();
    const { noted, followed } = follower(['p1']);
    live.start();
    live.follow(followed);
    await clock.pass(200);
    const text = `event: change\nid: 1-1\ndata: ${JSON.stringify(change('p1', 7))}\n\n`;
    for (const letter of text) streams.at(-1)?.sendText(letter);
    await clock.pass(250);

    expect(noted).toEqual([['p1', { id: 'p1', n: 7 }]]);
  });
});

describe('the connection of a page', () => {
  it('is offline with the time of its last data while the server cannot be reached, and comes back by itself', async () => {
    const { live, clock, streams, refuseStreams } = recordedServer();
    live.start();
    await clock.pass(0);
    streams[0]?.send('hello', '1-0', {});
    await clock.pass(0);
    expect(live.connection.state.value).toBe('live');
    const goodAtMs = clock.now();

    refuseStreams('unreachable');
    streams[0]?.end();
    await clock.pass(1_000);
    expect([live.connection.state.value, live.connection.goodAtMs.value]).toEqual(['offline', goodAtMs]);

    refuseStreams(undefined);
    await clock.pass(2_000);
    expect([live.connection.state.value, streams.length]).toEqual(['live', 2]);
  });

  it('tries more and more seldom, and at least every 15 seconds', async () => {
    const { live, clock, refuseStreams, streamTimesMs } = recordedServer();
    refuseStreams('unreachable');
    live.start();
    await clock.pass(60_000);

    const startMs = streamTimesMs[0] ?? 0;
    expect(streamTimesMs.map((atMs) => (atMs - startMs) / 1_000)).toEqual([0, 1, 3, 7, 15, 30, 45, 60]);
  });

  it('takes a stream for dead that is silent for three heartbeats', async () => {
    const { live, clock, streams } = recordedServer();
    live.start();
    await clock.pass(0);
    await clock.pass(30_000);
    streams[0]?.sendText(':\n\n');
    await clock.pass(44_000);
    expect(streams).toHaveLength(1);

    await clock.pass(3_000);
    expect(streams).toHaveLength(2);
    expect(streams[0]?.signal.aborted).toBe(true);
  });

  it('ends for good when the token is revoked', async () => {
    const { live, clock, streams, refuseStreams } = recordedServer();
    live.start();
    await clock.pass(0);
    refuseStreams(401);
    streams[0]?.end();
    await clock.pass(60_000);

    expect(live.connection.state.value).toBe('ended');
    expect(streams).toHaveLength(1);
  });

  it('is given back while no one sees the page', async () => {
    const { live, clock, streams, setVisible } = recordedServer();
    live.start();
    await clock.pass(0);
    setVisible(false);
    await clock.pass(0);
    expect(streams[0]?.signal.aborted).toBe(true);
    await clock.pass(60_000);
    expect(streams).toHaveLength(1);

    setVisible(true);
    await clock.pass(0);
    expect(streams).toHaveLength(2);
  });
});

describe('an answer', () => {
  it('stays on the page with the problem when the server is away, and gives way to the next answer', async () => {
    const { live, answers } = recordedServer();
    answers.set('/overview', () => ({ n: 1 }));
    await live.refresh('/overview');
    answers.delete('/overview');
    await live.refresh('/overview');
    expect(live.known('/overview').value).toMatchObject({ value: { n: 1 }, problem: { kind: 'unavailable' } });

    answers.set('/overview', () => ({ n: 2 }));
    await live.refresh('/overview');
    expect(live.known('/overview').value).toEqual({ value: { n: 2 }, isAsking: false });
  });

  it('that comes late does not replace that of a later request', async () => {
    const { live, answers } = recordedServer();
    const slow = Promise.withResolvers<object>();
    answers.set('/overview', () => slow.promise);
    const first = live.refresh('/overview');
    answers.set('/overview', () => ({ n: 2 }));
    await live.refresh('/overview');
    slow.resolve({ n: 1 });
    await first;

    expect(live.known('/overview').value.value).toEqual({ n: 2 });
  });
});
