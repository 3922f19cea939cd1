import { isAtLeast } from '#access/tokens.ts';
import type { JoinProof } from '#core/agent-link.ts';
import { SELF } from '#core/journal.ts';
import type { Plane } from './plane.ts';

/** With `allow_new_pool` a pool that is named and missing is created, as a manual one. */
export function withNewPools(plane: Plane): Pick<Plane, 'machines' | 'sessions'> {
  const { access, pools, machines, sessions } = plane;

  async function ensure(name: string): Promise<void> {
    try {
      await pools.define(JSON.stringify({ name }), { revision: 0 }, SELF);
    } catch {
      // The pool exists, or its name is invalid: then the call itself reports that.
    }
  }

  /**
   * An agent makes a pool only with a credential of this cluster: reaching the broker is not enough. The token of a launch
   * is none: its owner was there before, and a used one must open nothing.
   */
  function isTrusted({ token, certificateName, peerAddress }: JoinProof): boolean {
    if (certificateName !== undefined) return true;
    if (!token) return false;
    try {
      const { role } = access.authenticate({ authorization: `Bearer ${token}`, from: peerAddress });
      return isAtLeast(role, 'operator');
    } catch {
      return false;
    }
  }

  return {
    machines: {
      ...machines,
      async join(hello, proof) {
        if (machines.useOf(hello, proof) === 'worker' && isTrusted(proof)) await ensure(hello.pool);
        return machines.join(hello, proof);
      },
    },
    sessions: {
      ...sessions,
      async submit(requests, actor, key) {
        for (const pool of new Set(requests.map((request) => request.pool))) if (pool !== undefined) await ensure(pool);
        return sessions.submit(requests, actor, key);
      },
    },
  };
}
