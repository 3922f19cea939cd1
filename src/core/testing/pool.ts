import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Offer, Pool, PoolSpec, Scaling } from '../pool.ts';

export const OFFER: Offer = { id: 'shape1', kind: 'sim', config: {} };

/** Limits as the defaults of a document have them, with room for five workers. */
export function someScaling(more: Partial<Scaling> = {}): Scaling {
  return {
    mode: 'standard',
    minAgents: 0,
    maxAgents: 5,
    minIdleSlots: 0,
    maxIdleSlots: 1,
    idleDecayMs: MINUTE_MS,
    syncEveryMs: MINUTE_MS,
    killUnknownAfterMs: 0,
    slotsPerAgent: 1,
    retryDelayMs: MINUTE_MS,
    errorResetAfterMs: 90_000,
    bootTimeoutMs: 15 * MINUTE_MS,
    ...more,
  };
}

/** A pool with these limits; everything else is as the defaults have it. */
export function aPool(scaling: Partial<Scaling> = {}, more: Partial<PoolSpec> = {}, row: Partial<Pool> = {}): Pool {
  const name = more.name ?? 'gpu';
  return {
    id: `id-${name}`,
    name,
    owner: { source: 'file', key: name, version: '1' },
    createdAt: 0,
    changedAt: 0,
    revision: 1,
    spec: {
      name,
      offers: [OFFER],
      scaling: someScaling(scaling),
      drainTimeoutMs: HOUR_MS,
      agentAuth: 'token',
      agentNetworks: [],
      labels: {},
      ...more,
    },
    ...row,
  };
}
