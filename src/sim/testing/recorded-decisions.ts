// The decisions of a simulated time with a crash and a takeover in it, on any store, and what replay makes of them.
import { createHash } from 'node:crypto';
import { HOUR_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import type { DecisionRow } from '#core/journal.ts';
import { append, type Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { rowsFrom } from '#foresight/past.ts';
import { computeAgain, type ReplayedPage, type ReplayOptions, replayPage } from '#foresight/replay.ts';
import { openHeld, scratchFolder } from '#store/testing/databases.ts';
import { sharedPostgres } from '#store/testing/postgres.ts';
import { openSeededWorld } from '../seeded-world.ts';

export async function recordDecisions(seed: number, { pools = 3, hours = 24 } = {}): Promise<readonly DecisionRow[]> {
  const world = await openSeededWorld({ seed, pools, keepsHistory: true, sessionsPerPoolHour: 10 });
  world.load.start();
  const thirdMs = (hours * HOUR_MS) / 3;
  await world.advance(thirdMs);
  world.server.crash('in the middle');
  await world.advance(thirdMs);
  world.takeOver(1_000);
  await world.advance(thirdMs);
  return world.disk.histories.decisions;
}

const ROWS_A_COMMIT = 1_000;

async function storeDecisions(store: Store, rows: readonly DecisionRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_A_COMMIT)
    await store.commit(rows.slice(at, at + ROWS_A_COMMIT).map((row) => append('decisions', row)));
}

/** Of all decisions, computed again, in the order in which they were made. */
async function hashComputed({ history }: Store): Promise<string> {
  const hash = createHash('sha256');
  for await (const { id, inputs = '' } of rowsFrom((page) => history.decisions({}, page), 0))
    hash.update(JSON.stringify([id, computeAgain(inputs)]));
  return hash.digest('hex');
}

/** All pages of a replay. */
export async function replayAll(
  store: Pick<Store, 'history'>,
  options: Omit<ReplayOptions, 'after'> = {},
): Promise<readonly ReplayedPage[]> {
  const pages: ReplayedPage[] = [];
  for (let after: string | undefined = idsFrom(0); after !== undefined; after = pages.at(-1)?.next)
    pages.push(await replayPage({ store, clock: new VirtualClock() }, { ...options, after }));
  return pages;
}

/** How many of them are the same on SQLite and on PostgreSQL; their hashes there, before and after a restart. */
export async function replayedOnEachStore(rows: readonly DecisionRow[]) {
  const [same, hashes]: [number[], string[]] = [[], []];
  const folder = scratchFolder();
  for (const place of [folder.path, await (await sharedPostgres()).database()]) {
    const first = await openHeld(place);
    await storeDecisions(first, rows);
    hashes.push(await hashComputed(first));
    await first.close();
    const next = await openHeld(place);
    hashes.push(await hashComputed(next));
    same.push((await replayAll(next)).reduce((sum, { counts }) => sum + counts.same, 0));
    await next.close();
  }
  folder.remove();
  return { same, hashes };
}
