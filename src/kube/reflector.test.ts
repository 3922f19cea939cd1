import { afterEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Log, silentLog } from '#core/log.ts';
import { going } from '#core/testing/going.ts';
import { type KubeObject, withoutManagedFields } from './object.ts';
import { openReflector, type Reflector } from './reflector.ts';
import { PODS } from './resource.ts';
import { aList, aPod, hang, openScripted, openStream, refusal, type SeenRequest, type Stream } from './testing.ts';

const opened: Reflector<KubeObject>[] = [];

afterEach(async () => {
  for (const reflector of opened.splice(0)) await reflector.close();
});

/** A cluster with some pods; each watch is a stream that the test feeds, unless it says otherwise. */
async function setUp(pods: readonly KubeObject[] = [aPod('a', 1)], log: Log = silentLog) {
  const scripted = { ...openScripted(), log };
  const { script, clock } = scripted;
  const streams: Stream[] = [];
  const state = {
    list: () => aList(10, pods),
    watch: undefined as ((request: SeenRequest) => Response | Promise<Response>) | undefined,
  };
  script.answering = (request) => {
    if (request.query.watch === undefined) return state.list();
    if (state.watch) return state.watch(request);
    const stream = openStream();
    streams.push(stream);
    return stream.response;
  };
  const reflector = openReflector(scripted, { resource: PODS, query: { namespace: 'ml' }, keep: withoutManagedFields });
  opened.push(reflector);
  const changes: (readonly [string, string | undefined])[] = [];
  reflector.onChange((key, object) => changes.push([key, object?.metadata.resourceVersion]));
  await clock.settle();
  const watches = (): SeenRequest[] => scripted.requests.filter(({ query }) => query.watch === '1');
  const lists = (): SeenRequest[] => scripted.requests.filter(({ query }) => query.watch === undefined);
  return { ...scripted, reflector, changes, state, streams, watches, lists, last: () => streams.at(-1) as Stream };
}

const names = (reflector: Reflector<KubeObject>): string[] => [...reflector.all().keys()];

describe('a reflector', () => {
  it('lists, then follows changes from that version on', async () => {
    const { reflector, changes, clock, last, watches } = await setUp();
    await reflector.ready(going());
    last().send('ADDED', aPod('b', 11));
    last().send('MODIFIED', aPod('a', 12, { managedFields: [{}] }));
    last().send('DELETED', aPod('b', 13));
    await clock.settle();

    expect(changes).toEqual([
      ['ml/a', '1'],
      ['ml/b', '11'],
      ['ml/a', '12'],
      ['ml/b', undefined],
    ]);
    expect(names(reflector)).toEqual(['ml/a']);
    expect(reflector.all().get('ml/a')?.metadata).not.toHaveProperty('managedFields');
    expect(watches()[0]?.query).toMatchObject({ resourceVersion: '10', allowWatchBookmarks: 'true' });
  });

  it('asks for short watches of different length, and goes on from the last version when one ends', async () => {
    const { clock, last, watches, lists } = await setUp();
    for (let at = 1; at <= 20; at++) {
      await clock.advance(6_000);
      last().bookmark(10 + at);
      last().end();
      await clock.settle();
    }
    const seconds = watches().map(({ query }) => Number(query.timeoutSeconds));

    expect([...new Set(seconds)].toSorted()).toEqual([6, 7, 8]);
    expect(watches().map(({ query }) => query.resourceVersion)).toEqual(
      Array.from({ length: 21 }, (_, at) => String(10 + at)),
    );
    expect(lists()).toHaveLength(1);
  });

  it('goes on from the last version when the API server drops it as too slow a reader, and lists nothing', async () => {
    const { clock, last, lists, watches, reflector } = await setUp();
    await clock.advance(2_000);
    last().send('ADDED', aPod('b', 11));
    last().end();
    await clock.settle();

    expect(lists()).toHaveLength(1);
    expect(watches().at(-1)?.query.resourceVersion).toBe('11');
    expect(names(reflector)).toEqual(['ml/a', 'ml/b']);
  });

  it('lists anew where a watch ends early and has brought nothing', async () => {
    const { clock, last, lists } = await setUp();
    await clock.advance(2_000);
    last().end();
    await clock.settle();

    expect(lists()).toHaveLength(2);
  });

  it.each([
    ['at the start of a watch', () => refusal(410, 'Expired')],
    [
      'within a watch',
      () => {
        const stream = openStream();
        stream.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
        return stream.response;
      },
    ],
  ])('lists again at once when its version is forgotten %s, and reports what it missed', async (_, forgotten) => {
    const { reflector, changes, clock, state, last } = await setUp([aPod('a', 1), aPod('b', 2), aPod('same', 3)]);
    changes.length = 0;
    state.list = () => aList(50, [aPod('a', 40), aPod('c', 41), aPod('same', 3)]);
    state.watch = () => {
      state.watch = undefined;
      return forgotten();
    };
    await clock.advance(6_000);
    last().end();
    await clock.advance(0);

    expect(changes).toEqual([
      ['ml/b', undefined],
      ['ml/a', '40'],
      ['ml/c', '41'],
    ]);
    expect(names(reflector).toSorted()).toEqual(['ml/a', 'ml/c', 'ml/same']);
    expect(reflector.fault()).toBeUndefined();
  });

  it('does not list without a pause where every watch is refused as too old', async () => {
    const { clock, lists, state } = await setUp();
    state.watch = () => refusal(410, 'Expired');
    await clock.advance(25_000 + 60_000);

    expect(lists().length).toBeLessThan(15);
  });

  it('reports an object that was made anew as gone first', async () => {
    const { changes, clock, state, last } = await setUp();
    changes.length = 0;
    state.list = () => aList(50, [aPod('a', 40, { uid: 'another' })]);
    last().send('ERROR', { kind: 'Status', code: 500, reason: 'InternalError' });
    await clock.advance(2_000);

    expect(changes).toEqual([
      ['ml/a', undefined],
      ['ml/a', '40'],
    ]);
  });

  it('finds a watch that fell silent within 15 s, and goes on where it was', async () => {
    const { reflector, clock, streams, watches, lists } = await setUp();
    streams[0]?.send('ADDED', aPod('b', 11));
    await clock.advance(15_000);
    streams[1]?.send('ADDED', aPod('c', 12));
    await clock.settle();

    expect(names(reflector)).toEqual(['ml/a', 'ml/b', 'ml/c']);
    expect(watches()[1]?.query.resourceVersion).toBe('11');
    expect(watches()[0]?.signal.aborted).toBe(true);
    expect(lists()).toHaveLength(1);
  });

  it('finds a watch that gets no answer at all', async () => {
    const { reflector, clock, state, last, streams } = await setUp();
    state.watch = hang;
    last().end();
    await clock.advance(14_000);
    state.watch = undefined;
    await clock.advance(14_000);
    streams.at(-1)?.send('ADDED', aPod('b', 11));
    await clock.settle();

    expect(names(reflector)).toEqual(['ml/a', 'ml/b']);
  });

  it('outlives a storm of 503 with growing pauses, and is right again within seconds', async () => {
    const { reflector, clock, state, last, requests } = await setUp();
    const away = () => new Response('no', { status: 503 });
    Object.assign(state, { list: away, watch: away });
    last().cut();
    await clock.advance(10 * 60_000);
    const asked = requests.length;

    expect(asked).toBeGreaterThan(40);
    expect(asked).toBeLessThan(120);
    expect(names(reflector)).toEqual(['ml/a']);
    expect(reflector.fault()).toMatchObject({ kind: 'unavailable' });

    Object.assign(state, { watch: undefined });
    await clock.advance(13_000);
    last().send('ADDED', aPod('b', 11));
    await clock.settle();

    expect(names(reflector)).toEqual(['ml/a', 'ml/b']);
    expect(reflector.fault()).toBeUndefined();
  });

  it('says in the log that it does not follow, not at every try, and when it does again', async () => {
    const lines: string[] = [];
    const { clock, state, last } = await setUp(undefined, (level, message) => {
      if (level !== 'debug') lines.push(`${level}: ${message}`);
    });
    state.watch = () => refusal(403, 'Forbidden');
    last().cut();
    await clock.advance(4 * 60_000);

    expect(lines).toEqual(['warn: the view of a cluster does not follow']);
    state.watch = undefined;
    await clock.advance(13_000);
    last().bookmark(12);
    await clock.settle();
    expect(lines.slice(1)).toEqual(['info: watch resumed']);
  });

  it('goes on where one of its readers fails', async () => {
    const { reflector, clock, changes, last } = await setUp();
    reflector.onChange(() => {
      throw new Fault('internal', 'A bug.');
    });
    const heard: string[] = [];
    reflector.onChange((key) => heard.push(key));
    last().send('ADDED', aPod('b', 11));
    await clock.settle();

    expect([heard, changes.length, reflector.fault()]).toEqual([['ml/b'], 2, undefined]);
  });

  it('does not ask without a pause where watches end at once', async () => {
    const { clock, state, watches } = await setUp();
    state.watch = () => new Response('');
    await clock.advance(25_000 + 60_000);

    expect(watches().length).toBeLessThan(20);
  });

  it('never shows a part of a list', async () => {
    const { reflector, clock, state, script, last } = await setUp([aPod('a', 1), aPod('b', 2)]);
    const answering = script.answering;
    script.answering = (request) => {
      if (request.query.watch) return answering(request);
      return request.query.continue ? new Response('{"items": [') : aList(50, [aPod('a', 1)], 'more');
    };
    state.watch = () => refusal(410, 'Expired');
    last().end();
    await clock.advance(60_000);

    expect(names(reflector)).toEqual(['ml/a', 'ml/b']);
  });

  it('forgets the pages of a list that had to begin again', async () => {
    const scripted = openScripted();
    let beginnings = 0;
    scripted.script.answering = ({ query }) => {
      if (query.watch) return openStream().response;
      if (query.continue) return beginnings === 1 ? refusal(410, 'Expired') : aList(60, [aPod('b', 2)]);
      beginnings += 1;
      return aList(50, [beginnings === 1 ? aPod('gone', 1) : aPod('a', 1)], 'more');
    };
    const reflector = openReflector(scripted, { resource: PODS, query: {}, keep: withoutManagedFields });
    opened.push(reflector);
    await scripted.clock.settle();

    expect(names(reflector)).toEqual(['ml/a', 'ml/b']);
  });

  it('lists again about every hour, and so finds what no watch has reported', async () => {
    const { reflector, clock, state, script, lists } = await setUp();
    const answering = script.answering;
    script.answering = (request) => {
      if (!request.query.watch) return answering(request);
      const stream = openStream();
      clock.alarm(Number(request.query.timeoutSeconds) * 1_000, stream.end);
      return stream.response;
    };
    state.list = () => aList(500, []);
    await clock.advance(30_000);
    expect(names(reflector)).toEqual(['ml/a']);
    await clock.advance(1.3 * HOUR_MS);

    expect(names(reflector)).toEqual([]);
    expect(lists()).toHaveLength(2);
  });

  it('keeps to spans of time where the clock of the machine jumps', async () => {
    const { clock, lists, watches, last } = await setUp();
    clock.jump(-5 * HOUR_MS);
    await clock.advance(6_000);
    last().end();
    clock.jump(48 * HOUR_MS);
    await clock.settle();

    expect([lists().length, watches().length]).toEqual([1, 2]);
  });

  it('ends its requests when it is closed', async () => {
    const { reflector, watches } = await setUp();
    await reflector.close();

    expect(watches().map(({ signal }) => signal.aborted)).toEqual([true]);
    await expect(reflector.ready(going())).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('waiting for a reflector', () => {
  it('until it is ready ends with the fault that keeps the list away', async () => {
    const scripted = openScripted();
    scripted.script.answering = () => refusal(403, 'Forbidden', 'cannot list');
    const reflector = openReflector(scripted, { resource: PODS, query: {}, keep: withoutManagedFields });
    opened.push(reflector);

    await expect(reflector.ready(going())).rejects.toMatchObject({ kind: 'denied' });
    scripted.script.answering = ({ query }) => (query.watch ? openStream().response : aList(1, [aPod('a', 1)]));
    await scripted.clock.advance(2_000);
    await reflector.ready(going());
    expect(names(reflector)).toEqual(['ml/a']);
  });

  it('until it is fresh ends with the next word of the API server', async () => {
    const { reflector, clock, last } = await setUp();
    await clock.advance(5_000);
    await reflector.freshWithin(5_000, going());
    const fresh = reflector.freshWithin(4_000, going()).then(() => clock.monotonic());
    await clock.advance(3_000);
    last().bookmark(12);
    await clock.settle();

    expect(await fresh).toBe(8_000);
  });

  it('until it is fresh counts a watch that the API server ended properly', async () => {
    const { reflector, clock, last } = await setUp();
    await clock.advance(6_000);
    const fresh = reflector.freshWithin(1_000, going());
    last().end();
    await clock.settle();

    await expect(fresh).resolves.toBeUndefined();
  });

  it('until it is fresh ends with the fault where the watch breaks, unless it is fresh enough', async () => {
    const { reflector, clock, last, state } = await setUp();
    await clock.advance(6_000);
    const waiting = reflector.freshWithin(4_000, going());
    waiting.catch(() => {});
    state.watch = () => refusal(503, 'ServiceUnavailable');
    last().cut();
    await clock.settle();

    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(reflector.freshWithin(4_000, going())).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(reflector.freshWithin(10_000, going())).resolves.toBeUndefined();
  });

  it('ends when it is given up', async () => {
    const { reflector, clock } = await setUp();
    await clock.advance(5_000);
    const ending = new AbortController();
    const waiting = reflector.freshWithin(1_000, ending.signal);
    ending.abort();

    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
