import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { WatchPoolStatusRequestSchema } from '#wire/gen/velda/pool_pb.ts';
import { encode } from '#wire/messages.ts';
import type { AnswerStreamMethod } from './method.ts';
import { poolCalls } from './pool-calls.ts';
import { aCaller, anAnswerStream } from './testing.ts';

/** Someone who watches a pool whose trouble is a new one at every look. */
async function watched() {
  const clock = new VirtualClock();
  const token = { isRevoked: false };
  const deps: Parameters<typeof poolCalls>[0] = {
    view: { pools: { by: () => [{ id: 'p1', name: 'gpu', spec: {} }] } } as never,
    clock,
    durable: async () => {},
    launchFault: () => ({ message: 'No capacity.', at: clock.now() }),
    authorize() {
      if (token.isRevoked) throw new Fault('unauthenticated', 'This token is unknown, expired or revoked.');
      return { who: 'token:ci', from: '10.0.0.7' };
    },
  };
  const method = poolCalls(deps, new AbortController().signal)['/velda.PoolManagerService/WatchPoolStatus'];
  const { call, said } = anAnswerStream(encode(WatchPoolStatusRequestSchema, { pool: 'gpu' }));
  const serve = await (method as AnswerStreamMethod).admit(aCaller('10.0.0.7', { authorization: 'Bearer x' }));
  const heard = { said, fault: undefined as Fault | undefined };
  serve(call).catch((fault: Fault) => {
    heard.fault = fault;
  });
  return { clock, heard, token };
}

it('a watch ends with the token that began it', async () => {
  const { clock, heard, token } = await watched();
  await clock.advance(3_000);
  const before = heard.said.length;

  token.isRevoked = true;
  await clock.advance(60_000);

  expect(before).toBe(2);
  expect(heard.said.length).toBe(before);
  expect(heard.fault?.kind).toBe('unauthenticated');
});
