import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { WatchPoolStatusRequestSchema } from '#wire/gen/velda/pool_pb.ts';
import { encode } from '#wire/messages.ts';
import { poolCalls } from './pool-calls.ts';

/** Someone who watches a pool whose trouble is a new one at every look. */
async function watched() {
  const clock = new VirtualClock();
  const heard = { notes: 0, fault: undefined as Fault | undefined };
  const token = { isRevoked: false };
  const isAdmitted = Promise.withResolvers<void>();
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
  const call = poolCalls(deps, new AbortController().signal)['/velda.PoolManagerService/WatchPoolStatus']?.({
    caller: { peerAddress: '10.0.0.7', certificateName: undefined, header: () => 'Bearer x' },
    write: () => void heard.notes++,
    pause() {},
    resume: () => isAdmitted.resolve(),
    trust() {},
    end(fault) {
      heard.fault = fault;
    },
    cut() {},
  });
  await isAdmitted.promise;
  call?.message(encode(WatchPoolStatusRequestSchema, { pool: 'gpu' }));
  return { clock, heard, token };
}

it('a watch ends with the token that began it', async () => {
  const { clock, heard, token } = await watched();
  await clock.advance(3_000);
  const before = heard.notes;

  token.isRevoked = true;
  await clock.advance(60_000);

  expect(before).toBe(2);
  expect(heard.notes).toBe(before);
  expect(heard.fault?.kind).toBe('unauthenticated');
});
