import type { Pool } from '#core/pool.ts';
import type { Session, SessionSpec } from '#core/session.ts';
import type { Change, RowOf, TableName } from '#core/store.ts';
import type { Agent, Worker } from '#core/worker.ts';

/** A change as its owner would make it; here the API only looks on. */
export function row<T extends TableName>(table: T, value: RowOf<T>): Change {
  return { table, id: value.id, row: value } as Change;
}

export function gone(table: TableName, id: string): Change {
  return { table, id, row: undefined } as Change;
}

export function aPool(name: string, more: Partial<Pool> = {}): Pool {
  return {
    id: `p-${name}`,
    name,
    spec: {
      name,
      offers: [{ id: 'o1', kind: 'process', config: { apiToken: 'planted-secret', plain: 'shown' } }],
      scaling: {
        mode: 'standard',
        minAgents: 0,
        maxAgents: 5,
        minIdleSlots: 0,
        maxIdleSlots: 2,
        idleDecayMs: 60_000,
        syncEveryMs: 60_000,
        killUnknownAfterMs: 0,
        slotsPerAgent: 1,
        retryDelayMs: 60_000,
        errorResetAfterMs: 90_000,
        bootTimeoutMs: 900_000,
      },
      drainTimeoutMs: 3_600_000,
      agentAuth: 'token',
      agentNetworks: [],
      labels: { gpu: 'none' },
    },
    owner: { source: 'file', key: name, version: 'v1' },
    createdAt: Date.UTC(2026, 0, 1),
    changedAt: Date.UTC(2026, 0, 1),
    revision: 1,
    ...more,
  };
}

export function aWorker(id: string, pool: string, more: Partial<Worker> = {}): Worker {
  return { id, pool, machine: id, offer: 'o1', launch: 'l1', askedAt: Date.UTC(2026, 0, 1), ...more };
}

export function anAgent(id: string, pool: string, slots = 1): Agent {
  return {
    id,
    pool,
    epoch: 1,
    slots,
    labels: {},
    wire: 'muster',
    version: '0.1.0',
    hostname: 'host',
    address: '10.0.0.1',
    connectedAt: Date.UTC(2026, 0, 1),
  };
}

export const aSpec: SessionSpec = {
  command: ['true'],
  env: {},
  stdin: false,
  priority: 0,
  labels: {},
  graceMs: 10_000,
  retries: 0,
};

export function aSession(id: string, pool: Pool, more: Partial<Session> = {}): Session {
  return {
    id,
    pool: pool.id,
    poolName: pool.name,
    spec: aSpec,
    acceptedAt: Date.UTC(2026, 0, 1),
    by: 'token:test',
    attempt: 0,
    ...more,
  };
}
