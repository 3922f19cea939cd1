import { randomUUID } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Session, SessionIn } from '../api/wire/session.ts';
import { type Client, isUnreachable } from './client.ts';
import type { Cli } from './command.ts';
import { patiently } from './patience.ts';
import { kill } from './run-sessions.ts';
import { oneLine } from './table.ts';
import { remark } from './terminal.ts';

const MOST_IN_ONE_REQUEST = 1_000;

interface Batch {
  readonly body: readonly SessionIn[];
  /** The server has already accepted some of these sessions. */
  readonly isLater: boolean;
}

/**
 * Sends one request until it is answered. Its key makes that safe where an answer was lost; where no server listens, the
 * first one fails at once.
 */
async function send(cli: Cli, client: Client, { body, isLater }: Batch): Promise<readonly Session[]> {
  const headers = { 'idempotency-key': randomUUID() };
  const ask = () => client.call<{ items: Session[] }>('/sessions', { method: 'POST', body, headers });
  try {
    return (await ask()).items;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'unavailable' || (isUnreachable(fault) && !isLater)) throw fault;
    return (await patiently(cli, ask)).items;
  }
}

/** Submits sessions in order. If that fails midway, it ends the accepted ones, because the caller does not know their ids. */
export async function submit(cli: Cli, client: Client, requests: readonly SessionIn[]): Promise<readonly Session[]> {
  const made: Session[] = [];
  try {
    for (let at = 0; at < requests.length && (at === 0 || !cli.signal.aborted); at += MOST_IN_ONE_REQUEST) {
      const body = requests.slice(at, at + MOST_IN_ONE_REQUEST);
      made.push(...(await send(cli, client, { body, isLater: at > 0 })));
    }
    for (const why of new Set(made.map((session) => session.why))) if (why) remark(cli.terminal, oneLine(why));
    return made;
  } catch (thrown) {
    if (made.length > 0) remark(cli.terminal, `ending the ${made.length} sessions that were accepted`);
    const ids = made.map(({ id }) => id);
    await kill(cli, client, ids, false);
    throw thrown;
  }
}
