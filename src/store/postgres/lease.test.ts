import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { ThreadListener } from '../engine.ts';
import type { LeaseEnd, Pulse } from '../lease-end.ts';
import { POSTGRES, type SqlRow } from '../sql.ts';
import type { PostgresClient } from './client.ts';
import { postgresLease } from './lease.ts';

const quiet: ThreadListener = { log: () => {}, holder: () => {}, lost: () => {} };

/** A lease on a database that answers after `answerMs`; `away` makes it fail, `fenced` says that another holds it. */
function world() {
  const clock = new VirtualClock();
  const database = { answerMs: 0, away: false, fenced: false, releases: 0 };
  const program = { isStuck: false, lastBeatMs: 0 };
  const losses: { readonly atMs: number; readonly fault: Fault }[] = [];
  let endMs = 0;
  const leaseEnd: LeaseEnd & Pick<Pulse, 'sinceBeatMs'> = {
    mark: () => BigInt(clock.monotonic()),
    extend: (mark, spanMs) => {
      endMs = Number(mark) + spanMs;
    },
    end: () => {
      endMs = 0;
    },
    leftMs: () => Math.max(0, endMs - clock.monotonic()),
    sinceBeatMs: () => (program.isStuck ? clock.monotonic() - program.lastBeatMs : 0),
  };

  function answer(text: string): SqlRow[] {
    if (text.includes('lease_ends_at = 0 WHERE')) database.releases += 1;
    if (text.includes('UPDATE cluster SET epoch')) return [{ id: 'cluster1', epoch: 1, restored_at: null }];
    if (text.includes('UPDATE cluster SET lease_ends_at')) return database.fenced ? [] : [{ epoch: 1 }];
    if (text.includes('max(version)')) return [];
    return [{ missing: 0 }];
  }
  const query = async (text: string): Promise<SqlRow[]> => {
    await clock.sleep(database.answerMs);
    if (database.away) throw new Fault('unavailable', 'away');
    return answer(text);
  };
  const connection = { dialect: POSTGRES, query, run: () => Promise.resolve([]) };
  const client: PostgresClient = {
    ...connection,
    connection: async () => connection,
    drop: () => {},
    close: async () => {},
  };
  const lease = postgresLease({
    histories: [],
    url: 'postgres://h/d',
    client,
    newCluster: 'cluster1',
    advertised: 'null',
    leaseEnd,
    clock,
    listener: quiet,
    lost: (fault) => losses.push({ atMs: clock.monotonic(), fault }),
  });
  return { clock, database, program, losses, lease, leaseEnd };
}

async function held() {
  const made = world();
  const taking = made.lease.take();
  await made.clock.advance(0);
  await taking;
  return made;
}

describe('a lease', () => {
  test('is given up for a program that hangs, though the thread that renews it lives', async () => {
    const { clock, program, losses, leaseEnd } = await held();
    Object.assign(program, { isStuck: true, lastBeatMs: clock.monotonic() });

    await clock.advance(29_000);
    const early = losses.length;
    await clock.advance(5_000);

    expect(early).toBe(0);
    expect(losses.map(({ fault }) => fault.message)).toEqual([
      'The program was blocked for 30 s and gives up its lease.',
    ]);
    expect(leaseEnd.leftMs()).toBe(0);
  });

  test('is renewed in time, for as long as it takes', async () => {
    const { clock, losses, leaseEnd } = await held();

    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      expect(leaseEnd.leftMs()).toBeGreaterThan(1_500);
    }

    expect(losses).toEqual([]);
  });

  test('counts from the time before it was asked for: a slow answer makes it shorter, never longer', async () => {
    const { clock, database, leaseEnd } = await held();
    database.answerMs = 800;

    await clock.advance(1_000 + 800);

    expect(leaseEnd.leftMs()).toBe(2_900 - 800);
  });

  test('is lost at its end when the database is away, not before, and once', async () => {
    const { clock, database, losses, leaseEnd } = await held();

    database.away = true;
    await clock.advance(2_899);
    const early = losses.length;
    await clock.advance(60_000);

    expect(early).toBe(0);
    expect(losses.map(({ atMs, fault }) => [atMs, fault.kind])).toEqual([[2_900, 'unavailable']]);
    expect(leaseEnd.leftMs()).toBe(0);
  });

  test('outlives a short absence of the database', async () => {
    const { clock, database, losses } = await held();

    database.away = true;
    await clock.advance(2_500);
    database.away = false;
    await clock.advance(60_000);

    expect(losses).toEqual([]);
  });

  test('is lost at once when another has become the holder', async () => {
    const { clock, database, losses, leaseEnd } = await held();

    database.fenced = true;
    await clock.advance(1_000);

    expect(losses.map(({ fault }) => fault.kind)).toEqual(['stale']);
    expect(leaseEnd.leftMs()).toBe(0);
  });

  test('that was released is not renewed, not lost, and free for others', async () => {
    const { clock, database, losses, lease, leaseEnd } = await held();

    const releasing = lease.release();
    await clock.advance(0);
    await releasing;
    const left = leaseEnd.leftMs();
    database.away = true;
    await clock.advance(60_000);

    expect([left, database.releases]).toEqual([0, 1]);
    expect(losses).toEqual([]);
  });
});
