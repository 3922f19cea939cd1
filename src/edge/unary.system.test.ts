import { expect, test } from 'vitest';
import { going } from '#core/testing/going.ts';
import { GRPC, type UnaryCall } from '#core/unary.ts';
import { grpcAnswer, grpcRefusal, unframed } from '#fakes/grpc.ts';
import type { Handler } from '#fakes/listen.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { openUnary } from './unary.ts';

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

async function ask(handle: Handler, more: Partial<UnaryCall> = {}, signal = going()) {
  const listener = await listenGrpc(0, handle);
  const message = new TextEncoder().encode('question');
  const call = { address: listener.address, path: '/a.B/C', metadata: { authorization: 'Bearer x' }, message, ...more };
  const answer = await openUnary()(call, signal);
  await listener.close();
  return answer;
}

test('sends message, path and metadata, and gets the answer', async () => {
  const heard: string[] = [];
  const answer = await ask(async (request) => {
    const message = unframed(new Uint8Array(await request.arrayBuffer()));
    heard.push(new URL(request.url).pathname, request.headers.get('authorization') ?? '', text(message));
    return grpcAnswer(new TextEncoder().encode('answer'));
  });

  expect(heard).toEqual(['/a.B/C', 'Bearer x', 'question']);
  expect([answer.code, text(answer.message)]).toEqual([GRPC.OK, 'answer']);
});

test('a refusal has its code, its words as they were and its details', async () => {
  const words = 'spec.labels: "100 %" and é are not allowed';
  const details = new Uint8Array([8, 3]);
  const answer = await ask(() => grpcRefusal({ code: GRPC.INVALID_ARGUMENT, text: words, details }));

  expect(answer).toMatchObject({ code: GRPC.INVALID_ARGUMENT, text: words });
  expect([...(answer.details ?? [])]).toEqual([8, 3]);
});

test('what is no gRPC, and an address without a listener, are no answer', async () => {
  const page = await ask(() => new Response('<html>', { status: 502 }));
  const nobody = await ask(() => grpcAnswer(new Uint8Array()), { address: 'http://127.0.0.1:1' });

  expect([page.code, nobody.code]).toEqual([GRPC.UNAVAILABLE, GRPC.UNAVAILABLE]);
  expect(nobody.text).toContain('127.0.0.1:1');
});

test('an aborted call ends at once as cancelled, before it was sent and after', async () => {
  const ending = new AbortController();
  const hung = ask(
    () => {
      ending.abort();
      return new Promise<Response>(() => {});
    },
    {},
    ending.signal,
  );
  const early = ask(() => grpcAnswer(new Uint8Array()), {}, AbortSignal.abort());

  expect([(await hung).code, (await early).code]).toEqual([GRPC.CANCELLED, GRPC.CANCELLED]);
});
