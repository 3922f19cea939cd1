import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';
import { Health } from './wire/server.ts';

// A store that takes longer than this to write counts as failed.
const STORE_PATIENCE_MS = 2_000;

async function checkStore({ store, clock }: ApiDeps): Promise<void> {
  if (store.leaseLeftMs() <= 0)
    throw new Fault('unavailable', 'This replica is a standby: another process holds the store.');
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    stop = clock.alarm(STORE_PATIENCE_MS, () => reject(new Fault('unavailable', 'The store does not answer.')));
  });
  try {
    await Promise.race([store.durable(), late]);
  } catch (thrown) {
    throw new Fault('unavailable', `The store failed: ${Fault.from(thrown).message}`, { cause: thrown });
  } finally {
    stop();
  }
}

/** Outside of `/api/v1`: for probes and Prometheus. */
function healthRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      role: 'anyone',
      summary: 'Liveness: the process answers.',
      reply: Health,
      isHealth: true,
      handle: () => ({ status: 'ok' as const }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      role: 'anyone',
      summary: 'Readiness: this process is the holder, its store answers, and it is not shutting down.',
      reply: Health,
      isHealth: true,
      async handle() {
        const why = deps.server.whyNotReady();
        if (why !== undefined) throw new Fault('unavailable', why);
        await checkStore(deps);
        return { status: 'ok' as const };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      role: 'viewer',
      summary: 'Metrics in the format of Prometheus.',
      reply: z.custom<Raw>(),
      media: ['text/plain'],
      async handle({ header }) {
        header('content-type', deps.metrics.contentType);
        return deps.metrics.text();
      },
    }),
  ];
}

export const noun: Noun = { tag: 'server', order: 130, rootRoutes: healthRoutes };
