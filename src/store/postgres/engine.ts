import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Engine, LiveRow, Setup, ThreadListener } from '../engine.ts';
import { leaseEnd } from '../lease-end.ts';
import { historyQueries, LOAD_SQL } from '../queries.ts';
import type { SqlRow, SqlValue } from '../sql.ts';
import { openPostgres } from './client.ts';
import { isPassing, postgresFault } from './fault.ts';
import { LEASE_ANSWER_WITHIN_MS, postgresLease } from './lease.ts';
import { type PostgresWriter, postgresWriter } from './writer.ts';

const READ_WITHIN_MS = 30_000;

/** A database of many processes: the process that has the lease is the holder, until it can no longer renew it. */
export function postgresEngine(setup: Extract<Setup, { role: 'postgres' }>, listener: ThreadListener): Engine {
  const { url, histories } = setup;
  const queries = historyQueries(histories);
  // Three connections: a long read or a large transaction must not keep the lease from being renewed.
  const leasing = openPostgres(url, { answerWithinMs: LEASE_ANSWER_WITHIN_MS });
  const writing = openPostgres(url);
  const reading = openPostgres(url, { answerWithinMs: READ_WITHIN_MS });
  const end = leaseEnd(setup.lease);
  let writer: PostgresWriter | undefined;
  let epoch = 0;
  const lease = postgresLease({
    url,
    client: leasing,
    histories,
    newCluster: setup.newCluster,
    advertised: setup.advertised,
    leaseEnd: end,
    clock: systemClock,
    listener,
    lost(fault) {
      writing.drop();
      listener.lost(fault);
    },
  });

  async function read(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    try {
      return await reading.query(text, values).catch((thrown) => {
        // The connection may have been lost long ago; reading again does no harm.
        if (isPassing(thrown)) return reading.query(text, values);
        throw thrown;
      });
    } catch (thrown) {
      throw postgresFault(thrown, url);
    }
  }

  return {
    async hold() {
      const held = await lease.take();
      epoch = held.epoch;
      writer = postgresWriter({ client: writing, histories, epoch, clock: systemClock, leaseLeftMs: end.leftMs });
      listener.holder({ epoch, advertised: JSON.parse(setup.advertised) });
      return held;
    },
    async load({ kind, id }, limit) {
      return (await read(LOAD_SQL, [kind, id, limit])) as unknown as readonly LiveRow[];
    },
    async write(parts) {
      if (!writer) throw new Fault('internal', 'Only the holder can write.');
      try {
        await writer.write(parts);
      } catch (thrown) {
        throw postgresFault(thrown, url);
      }
    },
    async ask(question) {
      const { text, values } = queries.page(question);
      return (await read(text, values)).map((row) => row.body as string);
    },
    async askPieces(question) {
      const { text, values, read: readRow } = queries.pieces(question);
      return (await read(text, values)).map(readRow);
    },
    async forget(name, before, limit) {
      return (await read(queries.forget(name), [before, limit, epoch])).length;
    },
    async close() {
      await lease.release().catch((thrown) => {
        listener.log('warn', 'database lease not released', { error: postgresFault(thrown, url).message });
      });
      await Promise.all([leasing.close(), writing.close(), reading.close()]);
    },
  };
}
