import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openStream } from './http2/testing.ts';
import { asFrame } from './message-reader.ts';
import { grpcStatusOf, OpenCall } from './open-call.ts';
import type { RpcStream } from './transport.ts';

test('a fault becomes its status, with what to do about it', () => {
  const fault = new Fault('missing', 'There is no pool "x".', { remedy: 'See the list.' });

  expect(grpcStatusOf(fault)).toEqual({ code: 5, details: 'There is no pool "x". See the list.' });
});

test('the text fits into a header, whatever it quotes', () => {
  const { details } = grpcStatusOf(new Fault('invalid', `${'\ud83d\ude00'.repeat(5_000)}\0`));

  expect(details.length).toBeLessThanOrEqual(1_024);
  expect(() => encodeURI(details)).not.toThrow();
});

test('what came before a call has its turn waits in order for a handler that pauses at once', () => {
  const { stream } = openStream();
  for (const text of ['one', 'two', 'three']) {
    const frame = asFrame(Buffer.from(text));
    stream.receive(frame, frame.length);
  }
  const heard: string[] = [];
  let paused: RpcStream | undefined;
  const handler = (call: RpcStream) => {
    paused = call;
    call.pause();
    return { message: (bytes: Uint8Array) => heard.push(Buffer.from(bytes).toString()), halfClosed() {}, closed() {} };
  };
  const service = { handler, clock: systemClock, failed() {} };
  new OpenCall(stream, new Map(), new Socket(), service).start(undefined);
  expect(heard).toEqual([]);

  paused?.resume();

  expect(heard).toEqual(['one', 'two', 'three']);
});
