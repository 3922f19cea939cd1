import { SELF } from '#core/journal.ts';
import type { Plane } from './plane.ts';

/** With `allow_new_pool` whoever names a pool that is not there gets it, as a manual one. */
export function withNewPools(plane: Plane): Pick<Plane, 'workers' | 'sessions'> {
  const { pools, workers, sessions } = plane;

  async function ensure(name: string): Promise<void> {
    try {
      await pools.define(JSON.stringify({ name }), { revision: 0 }, SELF);
    } catch {
      // It is there, or its name is impossible: then the call itself says so.
    }
  }

  return {
    workers: {
      ...workers,
      async join(hello, proof) {
        await ensure(hello.pool);
        return workers.join(hello, proof);
      },
    },
    sessions: {
      ...sessions,
      async submit(requests, actor, key) {
        for (const pool of new Set(requests.map((request) => request.pool))) await ensure(pool);
        return sessions.submit(requests, actor, key);
      },
    },
  };
}
