import { describe, expect, test } from 'vitest';
import type { Http2Stream } from './stream.ts';
import { listenTo, openStream } from './testing.ts';

const WINDOW = 65_535;
/** The least that makes up half of it. */
const HALF = 32_768;

const receive = (stream: Http2Stream, text: string): boolean => stream.receive(Buffer.from(text), text.length);
const receiveBytes = (stream: Http2Stream, bytes: number): boolean => stream.receive(Buffer.alloc(bytes), bytes);

describe('what comes', () => {
  test('waits until someone listens', () => {
    const { stream } = openStream();
    receive(stream, 'one');
    stream.endedThere();

    expect(listenTo(stream)).toEqual(['one', 'ended']);
  });

  test('is held in order with its end while the stream is paused', () => {
    const { stream } = openStream();
    const heard = listenTo(stream);
    receive(stream, 'one');
    stream.pause();
    receive(stream, 'two');
    receive(stream, 'three');
    stream.endedThere();
    expect(heard).toEqual(['one']);

    stream.resume();

    expect(heard).toEqual(['one', 'two', 'three', 'ended']);
  });

  test('is heard piece by piece where the listener pauses at each', () => {
    const { stream } = openStream();
    for (const text of ['one', 'two']) receive(stream, text);
    stream.endedThere();
    const heard = listenTo(stream, () => stream.pause());
    expect(heard).toEqual(['one']);

    stream.resume();
    expect(heard).toEqual(['one', 'two']);

    stream.resume();
    expect(heard).toEqual(['one', 'two', 'ended']);
  });

  test('is copied where it is held, since the connection uses its memory again', () => {
    const { stream } = openStream();
    const chunk = Buffer.from('one');
    stream.receive(chunk, chunk.length);

    chunk.fill('x');

    expect(listenTo(stream)).toEqual(['one']);
  });

  test('is held in few pieces, however small it comes', () => {
    const { stream } = openStream();
    const text = 'one byte at a time, '.repeat(50);
    for (const letter of text) receive(stream, letter);

    const heard = listenTo(stream);

    expect(heard.join('')).toBe(text);
    expect(heard.length).toBeLessThan(100);
  });

  test('ends once', () => {
    const { stream } = openStream();
    const heard = listenTo(stream);
    stream.endedThere();

    stream.pause();
    stream.resume();

    expect(heard).toEqual(['ended']);
  });
});

describe('the window of the client', () => {
  test('is opened again when half of it was heard, and not before', () => {
    const { stream, log } = openStream();
    listenTo(stream);

    receiveBytes(stream, HALF - 1);
    expect(log).toEqual([]);
    receiveBytes(stream, 1);
    receiveBytes(stream, 1);

    expect(log).toEqual([`widen 1 ${HALF}`]);
  });

  test('counts padding, also that of paused data', () => {
    const { stream, log } = openStream();

    stream.receive(Buffer.alloc(0), HALF - 1);
    stream.receive(Buffer.from('x'), 2);

    expect(log).toEqual([`widen 1 ${HALF}`]);
  });

  test('stays as it is for what is held', () => {
    const { stream, log } = openStream();
    receiveBytes(stream, HALF);
    expect(log).toEqual([]);

    listenTo(stream);

    expect(log).toEqual([`widen 1 ${HALF}`]);
  });

  test('is not opened again when the client has ended', () => {
    const { stream, log } = openStream();
    receiveBytes(stream, HALF);
    stream.endedThere();

    listenTo(stream);

    expect(log).toEqual([]);
  });

  test('may be used up, and not by a byte more', () => {
    const { stream } = openStream();

    expect(receiveBytes(stream, WINDOW)).toBe(true);
    expect(receiveBytes(stream, 1)).toBe(false);
  });

  test('has room again for what was heard', () => {
    const { stream } = openStream();
    listenTo(stream);

    expect(Array.from({ length: 10 }, () => receiveBytes(stream, HALF))).toEqual(Array(10).fill(true));
  });
});
