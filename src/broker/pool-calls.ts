import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { Store } from '#core/store.ts';
import { tame } from '#wire/foreign-text.ts';
import {
  GetPoolRequestSchema,
  GetPoolResponseSchema,
  ListPoolsRequestSchema,
  ListPoolsResponseSchema,
  type PoolAutoscalerStatusSchema,
  PoolStatusNotificationSchema,
  type WatchPoolStatusRequest,
  WatchPoolStatusRequestSchema,
} from '#wire/gen/velda/pool_pb.ts';
import { encode } from '#wire/messages.ts';
import { authorized, type CallerCheck } from './authorize.ts';
import { type FollowedCall, following } from './following.ts';
import type { RpcMethod } from './method.ts';
import { unary } from './unary.ts';

const LOOK_EVERY_MS = 2_000;

/** Why the last launch of a pool failed. */
export interface LaunchFault {
  readonly message: string;
  readonly at: number;
}

export interface PoolCallDeps extends CallerCheck {
  readonly view: Pick<Store['view'], 'pools'>;
  durable(): Promise<void>;
  launchFault(pool: string): LaunchFault | undefined;
}

/** The calls of Velda's command line about pools; `stopping` ends those that watch one. */
export function poolCalls(deps: PoolCallDeps, stopping: AbortSignal): Record<string, RpcMethod> {
  const { view, authorize, clock, durable, launchFault } = deps;

  function find(name: string): Pool {
    for (const pool of view.pools.by('name', name)) return pool;
    throw new Fault('missing', `pool not found: ${tame(name, 253)}`, { remedy: 'See `muster pool ls`.' });
  }

  function statusOf(pool: Pool): MessageInitShape<typeof PoolAutoscalerStatusSchema> {
    const fault = launchFault(pool.id);
    return fault ? { lastAllocationError: fault.message, lastAllocationErrorTime: timestampFromMs(fault.at) } : {};
  }

  const shown = (pool: Pool) => ({
    name: pool.name,
    description: pool.spec.description ?? '',
    autoscalerStatus: statusOf(pool),
  });

  /** Sends the status at first and after each change, until the caller or the pool is gone. */
  async function watch({ request, caller, signal, say }: FollowedCall<WatchPoolStatusRequest>): Promise<void> {
    const { pool: name } = request;
    let sent: string | undefined;
    while (!signal.aborted) {
      // Each time: a token may have been revoked meanwhile.
      await authorized(authorize, caller, 'viewer');
      await durable();
      const pool = find(name);
      const fault = launchFault(pool.id);
      const now = `${fault?.at} ${fault?.message}`;
      if (now !== sent) {
        const note = { pool: name, autoscalerStatus: statusOf(pool) };
        await say(encode(PoolStatusNotificationSchema, note));
        sent = now;
      }
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  return {
    '/velda.PoolManagerService/ListPools': unary(deps, {
      role: 'viewer',
      request: ListPoolsRequestSchema,
      answer: ListPoolsResponseSchema,
      async run() {
        await durable();
        const pools = [...view.pools.all()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
        return { pools: pools.map(shown) };
      },
    }),
    '/velda.PoolManagerService/GetPool': unary(deps, {
      role: 'viewer',
      request: GetPoolRequestSchema,
      answer: GetPoolResponseSchema,
      async run({ pool }) {
        await durable();
        return { pool: shown(find(pool)) };
      },
    }),
    '/velda.PoolManagerService/WatchPoolStatus': following(deps, stopping, {
      request: WatchPoolStatusRequestSchema,
      run: watch,
    }),
  };
}
