import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '#core/fault.ts';
import { type Log, silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { HISTORIES, type Store } from '#core/store.ts';
import type { HistoryRules } from '#core/table.ts';
import { openDatabase, type Replica } from '../database.ts';
import { openStore } from '../store.ts';

/** A folder that is gone after the test. */
export function scratchFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'muster-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface TestReplica extends Replica {
  /** The causes of each reported end. */
  readonly losses: readonly Fault[];
}

interface ReplicaOptions {
  readonly advertised?: unknown;
  readonly log?: Log;
  readonly histories?: HistoryRules;
}

export async function openReplica(url: string, more: ReplicaOptions = {}): Promise<TestReplica> {
  const losses: Fault[] = [];
  const { advertised = null, log = silentLog, histories } = more;
  const lost = (fault: Fault): void => void losses.push(fault);
  return { ...(await openDatabase(url, { random: systemRandom, log, advertised, lost, histories })), losses };
}

/** Opens and holds a database. */
export async function openHeld(
  url: string,
  fatal: (fault: Fault) => void = () => {},
  histories: HistoryRules = HISTORIES,
): Promise<Store> {
  const replica = await openReplica(url, { histories });
  return openStore(await replica.hold(new AbortController().signal), fatal);
}
