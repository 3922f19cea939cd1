import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { withNewPools } from './new-pools.ts';

/** A plane that knows the tokens of two roles, and all pools that were asked for. */
function open() {
  const made: string[] = [];
  const roles: Readonly<Record<string, string>> = { 'Bearer operator': 'operator', 'Bearer viewer': 'viewer' };
  const plane = {
    access: {
      authenticate({ authorization }: { authorization: string }) {
        const role = roles[authorization];
        if (role === undefined) throw new Fault('unauthenticated', 'No.');
        return { role };
      },
    },
    pools: { define: async (text: string) => void made.push(text) },
    machines: { join: async () => ({}), useOf: () => 'worker' },
    sessions: {},
  };
  const { machines } = withNewPools(plane as never);
  const join = (proof: object) =>
    machines.join({ pool: 'new' } as never, { peerAddress: '10.0.0.1', ...proof } as never);
  return { made, join };
}

it.each([
  ['nothing', {}, false],
  ['a token of nobody', { token: 'nonsense' }, false],
  ['the token of a viewer', { token: 'viewer' }, false],
  ['the token of an operator', { token: 'operator' }, true],
  ['the token of a launch, whose owner was there before it', { token: 'launch' }, false],
  ['a certificate of the cluster', { certificateName: 'm-1' }, true],
])('an agent with %s: a new pool is made: %#', async (_what, proof, isMade) => {
  const { made, join } = open();

  await join(proof);

  expect(made).toHaveLength(isMade ? 1 : 0);
});
