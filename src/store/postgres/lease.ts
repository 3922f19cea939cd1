// Who holds the database: one row, one clock (the database's), a lease that must be renewed.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Held, type Holder, takeCluster } from '../cluster.ts';
import type { ThreadListener } from '../engine.ts';
import type { HistoryTable } from '../history-tables.ts';
import type { LeaseEnd, Pulse } from '../lease-end.ts';
import { migrate, refuseNewer } from '../migrate.ts';
import { MIGRATIONS } from '../schema.ts';
import { transaction } from '../sql.ts';
import type { PostgresClient } from './client.ts';
import { isPassing, isUndefined, postgresFault } from './fault.ts';
import { lockSchema } from './schema-lock.ts';

const LEASE_MS = 3_000;
// The two machines' clocks may run at slightly different speeds: our own view of the lease ends first.
const SAFE_LEASE_MS = 2_900;
const RENEW_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 200;
const LOOK_EVERY_MS = 250;
// Far longer than any turn of the program: reading ten thousand pools takes seconds.
const HANGS_AFTER_MS = 30_000;
const SAY_AWAY_EVERY_MS = 10_000;

/** Long enough for a round trip across a continent, short enough for a second try before the lease ends. */
export const LEASE_ANSWER_WITHIN_MS = 1_200;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';
const LEASE_ENDS_AT = `${NOW} + ${LEASE_MS}`;

export interface LeaseOptions {
  readonly histories: readonly HistoryTable[];
  readonly url: string;
  readonly client: PostgresClient;
  readonly newCluster: string;
  readonly advertised: string;
  readonly leaseEnd: LeaseEnd & Partial<Pulse>;
  readonly clock: Clock;
  readonly listener: ThreadListener;
  /** The lease was lost. */
  lost(fault: Fault): void;
}

export interface HolderLease {
  /** Resolves once the lease is ours; it is renewed from then on. */
  take(): Promise<Held>;
  /** Ends waiting or renewing; a lease that is ours is free for others at once. */
  release(): Promise<void>;
}

export function postgresLease(options: LeaseOptions): HolderLease {
  const { client, clock, listener, leaseEnd } = options;
  const stopping = new AbortController();
  let mine: Held | undefined;
  let cancelAlarm = (): void => {};

  /** Takes the lease if it is free; the row is locked, so that two cannot. */
  async function tryToTake(): Promise<{ readonly held: Held; readonly mark: bigint } | undefined> {
    const connection = await client.connection();
    return transaction(connection, async () => {
      const isNew = await lockSchema(connection);
      const [row] = isNew
        ? []
        : await connection.query(`SELECT lease_ends_at > ${NOW} AS held FROM cluster FOR UPDATE`);
      if (row?.held) return undefined;
      await migrate(connection, options.histories);
      const mark = leaseEnd.mark();
      const { newCluster, advertised } = options;
      return { held: await takeCluster(connection, { newCluster, advertised, leaseEndsAt: LEASE_ENDS_AT }), mark };
    });
  }

  /** Who holds the lease; undefined where it can be taken. */
  async function look(): Promise<Holder | undefined> {
    try {
      const [row] = await client.query(`SELECT epoch, advertised, lease_ends_at > ${NOW} AS held,
        (SELECT max(version) FROM migrations) AS version FROM cluster`);
      if (!row) return undefined;
      refuseNewer(Number(row.version), MIGRATIONS.length);
      if (!row.held) return undefined;
      return { epoch: Number(row.epoch), advertised: JSON.parse(String(row.advertised)) };
    } catch (thrown) {
      if (isUndefined(thrown)) return undefined;
      throw thrown;
    }
  }

  const standby = standbyLog(listener);

  async function lookAndTake(): Promise<boolean> {
    const holder = await look();
    standby.seen(holder);
    if (holder) return false;
    const taken = await tryToTake();
    if (!taken || stopping.signal.aborted) return false;
    mine = taken.held;
    extend(taken.mark);
    return true;
  }

  function extend(mark: bigint): void {
    leaseEnd.extend(mark, SAFE_LEASE_MS);
    cancelAlarm();
    cancelAlarm = clock.alarm(leaseEnd.leftMs(), () =>
      lose(new Fault('unavailable', 'The database lease expired before it could be renewed.')),
    );
  }

  function lose(fault: Fault): void {
    if (stopping.signal.aborted) return;
    stopping.abort();
    cancelAlarm();
    leaseEnd.end();
    options.lost(fault);
  }

  async function renew(epoch: number): Promise<number> {
    // A blocked program that keeps the lease would stop all replicas.
    if ((leaseEnd.sinceBeatMs?.() ?? 0) > HANGS_AFTER_MS) {
      lose(new Fault('unavailable', `The program was blocked for ${HANGS_AFTER_MS / 1_000} s and gives up its lease.`));
      return 0;
    }
    const mark = leaseEnd.mark();
    try {
      const text = `UPDATE cluster SET lease_ends_at = ${LEASE_ENDS_AT} WHERE epoch = ? RETURNING epoch`;
      const renewed = await client.query(text, [epoch]);
      if (stopping.signal.aborted) return 0;
      if (renewed.length === 1) extend(mark);
      else lose(new Fault('stale', 'Another process has become the holder of the database.'));
      return RENEW_EVERY_MS;
    } catch (thrown) {
      const { message } = postgresFault(thrown, options.url);
      listener.log('warn', 'database lease not renewed', { error: message, leftMs: Math.round(leaseEnd.leftMs()) });
      return RETRY_AFTER_MS;
    }
  }

  async function renewUntilReleased(epoch: number): Promise<void> {
    let waitMs = RENEW_EVERY_MS;
    while (!stopping.signal.aborted) {
      await clock.sleep(waitMs, stopping.signal);
      if (!stopping.signal.aborted) waitMs = await renew(epoch);
    }
  }

  return {
    async take() {
      while (!stopping.signal.aborted) {
        try {
          if ((await lookAndTake()) && mine) {
            void renewUntilReleased(mine.epoch);
            return mine;
          }
        } catch (thrown) {
          if (!isPassing(thrown)) throw postgresFault(thrown, options.url);
          standby.away(postgresFault(thrown, options.url), clock.monotonic());
        }
        await clock.sleep(LOOK_EVERY_MS, stopping.signal);
      }
      throw new Fault('unavailable', 'Stopped waiting for the database.');
    },
    async release() {
      stopping.abort();
      cancelAlarm();
      leaseEnd.end();
      if (!mine) return;
      await client.query('UPDATE cluster SET lease_ends_at = 0 WHERE epoch = ?', [mine.epoch]);
    },
  };
}

/** Logs once what a standby waits for, and at intervals that the database does not answer. */
function standbyLog(listener: ThreadListener) {
  let seenEpoch: number | undefined;
  let saidAwayAtMs: number | undefined;
  return {
    seen(holder: Holder | undefined): void {
      if (saidAwayAtMs !== undefined) listener.log('info', 'database answers again', {});
      saidAwayAtMs = undefined;
      if (holder?.epoch === seenEpoch) return;
      seenEpoch = holder?.epoch;
      listener.holder(holder);
      if (holder) listener.log('info', 'another process holds the database; standing by', { epoch: holder.epoch });
    },
    away(fault: Fault, nowMs: number): void {
      if (saidAwayAtMs !== undefined && nowMs - saidAwayAtMs < SAY_AWAY_EVERY_MS) return;
      saidAwayAtMs = nowMs;
      listener.log('warn', 'database does not answer, retrying', { error: fault.message });
    },
  };
}
