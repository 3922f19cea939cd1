import type { Agent } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Session, SessionSpec } from '#core/session.ts';
import type { Change, RowOf, TableName } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import type { Worker } from '#core/worker.ts';

/** A change as its owner would make it; here the API only looks on. */
export function row<T extends TableName>(table: T, value: RowOf<T>): Change {
  return { table, id: value.id, row: value } as Change;
}

export function gone(table: TableName, id: string): Change {
  return { table, id, row: undefined } as Change;
}

/** A pool whose offer holds a secret, which no answer may show. */
export function poolWithSecret(name: string, more: Partial<Pool> = {}): Pool {
  const offers = [{ id: 'o1', kind: 'process', config: { apiToken: 'planted-secret', plain: 'shown' } }];
  const at = Date.UTC(2026, 0, 1);
  return aPool(
    { maxIdleSlots: 2 },
    { name, offers, labels: { gpu: 'none' } },
    { id: `p-${name}`, createdAt: at, changedAt: at, owner: { source: 'file', key: name, version: 'v1' }, ...more },
  );
}

export function aWorker(id: string, pool: string, more: Partial<Worker> = {}): Worker {
  return { id, pool, machine: id, offer: 'o1', launch: 'l1', askedAt: Date.UTC(2026, 0, 1), ...more };
}

export function anAgent(id: string, pool: string, slots = 1): Agent {
  return {
    id,
    use: 'worker',
    owner: pool,
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
