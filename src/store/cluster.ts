// The single row with the identity and the holder of the cluster.
import type { Sql, SqlRow } from './sql.ts';

/** What a holder reads when it takes the database. */
export interface Held {
  readonly cluster: string;
  readonly epoch: number;
  readonly restoredAt: number | undefined;
}

/** Who holds the database; `advertised` is what the holder said of itself. */
export interface Holder {
  readonly epoch: number;
  readonly advertised: unknown;
}

/** What a process needs to take a database. */
export interface Taking {
  /** The cluster's id, should the database be new. */
  readonly newCluster: string;
  /** As JSON. */
  readonly advertised: string;
  /** When the lease ends, as an expression of SQL. */
  readonly leaseEndsAt: string;
}

/** Makes this process the holder under the next epoch; call it within a transaction that has made sure it may. */
export async function takeCluster(sql: Sql, { newCluster, advertised, leaseEndsAt }: Taking): Promise<Held> {
  const taken = await sql.query(
    `UPDATE cluster SET epoch = epoch + 1, batch = 0, advertised = ?, lease_ends_at = ${leaseEndsAt}
      RETURNING id, epoch, restored_at`,
    [advertised],
  );
  if (taken[0]) return heldFrom(taken[0]);
  await sql.query(
    `INSERT INTO cluster (one, id, epoch, batch, lease_ends_at, advertised) VALUES (1, ?, 1, 0, ${leaseEndsAt}, ?)`,
    [newCluster, advertised],
  );
  return { cluster: newCluster, epoch: 1, restoredAt: undefined };
}

function heldFrom(row: SqlRow): Held {
  const restoredAt = row.restored_at;
  return {
    cluster: String(row.id),
    epoch: Number(row.epoch),
    restoredAt: restoredAt === null ? undefined : Number(restoredAt),
  };
}

/** Far beyond what an old holder may have reached: whatever compares epochs takes it for outdated. */
const EPOCHS_PER_RESTORE = 1_000_000;

/** Writes the cluster's row into a copy; with `restoredAt`, of a database that starts a new life. */
export async function copyCluster(from: Sql, to: Sql, restoredAt?: number): Promise<void> {
  const [row] = await from.query('SELECT id, epoch, restored_at FROM cluster');
  if (!row) return;
  const { cluster, epoch, restoredAt: earlier } = heldFrom(row);
  const nextEpoch = restoredAt === undefined ? epoch : epoch + EPOCHS_PER_RESTORE;
  await to.query('DELETE FROM cluster');
  await to.query(
    `INSERT INTO cluster (one, id, epoch, batch, restored_at, lease_ends_at, advertised) VALUES (1, ?, ?, 0, ?, 0, 'null')`,
    [cluster, nextEpoch, restoredAt ?? earlier ?? null],
  );
}
