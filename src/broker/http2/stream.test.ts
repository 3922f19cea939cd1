import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERROR } from './frames.ts';
import type { Http2Stream } from './stream.ts';
import { listenTo, OK, openStream } from './testing.ts';

const receive = (stream: Http2Stream, text: string): boolean => stream.receive(Buffer.from(text), text.length);
const turn = (): Promise<void> => Promise.resolve();

describe('what is written', () => {
  test('leaves in one frame where the client lets it', () => {
    const { stream, log, write } = openStream();

    stream.respond(OK, false);
    write('abc');

    expect(log).toEqual(['headers 1 :status=200', 'data 1 abc', 'written abc']);
  });

  test('waits for the window of the stream, and leaves in pieces and in order', () => {
    const { stream, log, write } = openStream({ stream: 4 });

    write('abcdef');
    write('gh');
    expect(log).toEqual(['data 1 abcd']);

    stream.widen(3);
    stream.sendWaiting();
    expect(log.slice(1)).toEqual(['data 1 ef', 'written abcdef', 'data 1 g']);

    stream.widen(9);
    stream.sendWaiting();
    expect(log.slice(4)).toEqual(['data 1 h', 'written gh']);
  });

  test('waits for the window of the connection, which all streams share', () => {
    const { stream, carrier, log, write } = openStream({ connection: 4 });

    write('abcdef');
    expect({ log, left: carrier.sendWindow }).toEqual({ log: ['data 1 abcd'], left: 0 });

    carrier.sendWindow += 5;
    stream.sendWaiting();
    expect(log.slice(1)).toEqual(['data 1 ef', 'written abcdef']);
    expect(carrier.sendWindow).toBe(3);
  });

  test('is cut into frames that the client takes, and counts as written with the last', () => {
    const { log, write } = openStream({ frame: 2 });

    write('abcde');

    expect(log).toEqual(['data 1 ab', 'data 1 cd', 'data 1 e', 'written abcde']);
  });

  test('waits behind what waits, though it would fit itself', () => {
    const { stream, log, write } = openStream({ stream: 2 });
    write('abcd');
    stream.widen(1);

    write('e');

    expect(log).toEqual(['data 1 ab', 'data 1 c']);
  });

  test('waits while the window is below zero', () => {
    const { stream, log, write } = openStream({ stream: 4 });
    write('abc');

    expect(stream.widen(-3)).toBe(-2);
    write('de');
    stream.widen(2);
    stream.sendWaiting();
    expect(log).toEqual(['data 1 abc', 'written abc']);

    stream.widen(2);
    stream.sendWaiting();
    expect(log.slice(2)).toEqual(['data 1 de', 'written de']);
  });

  test('of no bytes is sent even where the window is used up', () => {
    const { log, write } = openStream({ stream: 0 });

    write('');

    expect(log).toEqual(['data 1', 'written ']);
  });

  test('comes whole and in order, and never over a window, however the windows grow', () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom(...'abcdefgh'), maxLength: 40 }), { maxLength: 8 });
    const growth = fc.array(fc.tuple(fc.integer({ min: -10, max: 30 }), fc.nat({ max: 30 })), { maxLength: 20 });
    fc.assert(
      fc.property(texts, growth, fc.integer({ min: 1, max: 20 }), (texts, steps, frame) => {
        const { stream, carrier, log, write, end } = openStream({ stream: 0, connection: 0, frame });
        const pieces = (): string[] => log.filter((line) => line.startsWith('data')).map((line) => line.slice(7));
        for (const text of texts) write(text);
        end();
        for (const [own, shared] of [...steps, [1_000, 1_000] as const]) {
          const before = pieces().join('').length;
          carrier.sendWindow += shared;
          const most = Math.max(0, Math.min(stream.widen(own), carrier.sendWindow));
          stream.sendWaiting();
          expect(pieces().join('').length - before).toBeLessThanOrEqual(most);
        }

        expect(pieces().join('')).toBe(texts.join(''));
        expect(pieces().filter((piece) => piece.length > frame)).toEqual([]);
        expect(log.filter((line) => line.startsWith('written'))).toEqual(texts.map((text) => `written ${text}`));
        expect(log.slice(-2)).toEqual(['headers 1 done=yes end', 'sent']);
      }),
    );
  });
});

describe('the end of our side', () => {
  test('waits for all data before it, and only then calls back', () => {
    const { stream, log, write, end } = openStream({ stream: 2 });
    write('abc');

    end();
    expect(log).toEqual(['data 1 ab']);

    stream.widen(1);
    stream.sendWaiting();
    expect(log.slice(1)).toEqual(['data 1 c', 'written abc', 'headers 1 done=yes end', 'sent']);
  });

  test('is sent at once where nothing waits, and only once', () => {
    const { stream, log, end } = openStream();

    end();
    stream.sendWaiting();

    expect(log).toEqual(['headers 1 done=yes end', 'sent']);
  });

  test('closes the stream when the client has ended too, before or after', () => {
    const ours = openStream();
    ours.end();
    expect(ours.stream.isClosed).toBe(false);
    ours.stream.endedThere();

    const theirs = openStream();
    theirs.stream.endedThere();
    expect(theirs.stream.isClosed).toBe(false);
    theirs.stream.respond(OK, true);

    expect([ours.stream.isClosed, ours.log.at(-1)]).toEqual([true, 'forget 1']);
    expect([theirs.stream.isClosed, theirs.log]).toEqual([true, ['headers 1 :status=200 end', 'forget 1']]);
  });
});

describe('a closed stream', () => {
  test('says so once, after the turn', async () => {
    const { stream, log } = openStream();
    const heard = listenTo(stream);

    stream.close();
    stream.close();
    expect({ heard, log }).toEqual({ heard: [], log: ['forget 1'] });
    await turn();
    stream.close();
    await turn();

    expect(heard).toEqual(['closed']);
  });

  test('drops what waits to be sent', () => {
    const { stream, log, write, end } = openStream({ stream: 2 });
    write('abc');
    end();
    stream.close();

    stream.widen(10);
    stream.sendWaiting();

    expect(log).toEqual(['data 1 ab', 'forget 1']);
  });

  test('drops what waits to be heard', async () => {
    const { stream } = openStream();
    const heard = listenTo(stream);
    stream.pause();
    receive(stream, 'one');
    stream.endedThere();
    stream.close();

    stream.resume();
    await turn();

    expect(heard).toEqual(['closed']);
  });

  test('sends nothing more', () => {
    const { stream, log, write, end } = openStream();
    stream.close();

    stream.respond(OK, false);
    write('abc');
    end();
    stream.reset(ERROR.cancel);

    expect(log).toEqual(['forget 1']);
  });

  test('lets its listener hear no more of what is held', async () => {
    const { stream } = openStream();
    for (const text of ['one', 'two']) receive(stream, text);
    stream.endedThere();

    const heard = listenTo(stream, () => stream.reset(ERROR.cancel));
    await turn();

    expect(heard).toEqual(['one', 'closed']);
  });
});

test('a reset names its reason, and closes the stream', () => {
  const { stream, log } = openStream();

  stream.reset(ERROR.cancel);

  expect({ log, isClosed: stream.isClosed }).toEqual({ log: ['reset 1 8', 'forget 1'], isClosed: true });
});
