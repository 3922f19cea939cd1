import { randomUUID } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { ComputerSessionIn, Session, SessionIn } from '../api/wire/session.ts';
import { type Client, isUnreachable } from './client.ts';
import type { Cli } from './command.ts';
import { patiently } from './patience.ts';
import { kill } from './run-sessions.ts';
import { oneLine } from './table.ts';
import { remark } from './terminal.ts';

const MOST_IN_ONE_REQUEST = 1_000;

interface Batch {
  /** Of the API. */
  readonly path: string;
  readonly body: readonly SessionIn[];
  /** The server has already accepted some of these sessions. */
  readonly isLater: boolean;
}

/**
 * Sends one request until it is answered. Its key makes that safe where an answer was lost; where no server listens, the
 * first one fails at once.
 */
async function send(cli: Cli, client: Client, { path, body, isLater }: Batch): Promise<readonly Session[]> {
  const headers = { 'idempotency-key': randomUUID() };
  const ask = () => client.call<{ items: Session[] }>(path, { method: 'POST', body, headers });
  try {
    return (await ask()).items;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'unavailable' || (isUnreachable(fault) && !isLater)) throw fault;
    return (await patiently(cli, ask)).items;
  }
}

/** Whether the server has deleted files since it was asked which of them it lacks. */
const areFilesGone = ({ kind, at }: Fault): boolean => kind === 'conflict' && at === 'files';

/**
 * Sends the first batch. `prepare` uploads the files of its sessions; where others have displaced them by now, it does so
 * once more.
 */
async function sendFirst(cli: Cli, client: Client, { prepare, path }: { prepare: Prepare; path: string }) {
  for (let isAgain = false; ; isAgain = true) {
    const requests = await prepare();
    try {
      const made = await send(cli, client, { path, body: requests.slice(0, MOST_IN_ONE_REQUEST), isLater: false });
      return { requests, made };
    } catch (thrown) {
      if (isAgain || !areFilesGone(Fault.from(thrown))) throw thrown;
      remark(cli.terminal, 'the server has deleted files of this session to make room; sending them again');
    }
  }
}

export type Prepare = () => Promise<readonly (SessionIn | ComputerSessionIn)[]>;

/** Submits sessions in order, of pools or at the path of a computer. If that fails midway, it ends the accepted ones, because the caller does not know their ids. */
export async function submit(
  cli: Cli,
  client: Client,
  prepare: Prepare,
  path = '/sessions',
): Promise<readonly Session[]> {
  const first = await sendFirst(cli, client, { prepare, path });
  const { requests } = first;
  const made = [...first.made];
  try {
    for (let at = MOST_IN_ONE_REQUEST; at < requests.length && !cli.signal.aborted; at += MOST_IN_ONE_REQUEST) {
      const body = requests.slice(at, at + MOST_IN_ONE_REQUEST);
      made.push(...(await send(cli, client, { path, body, isLater: true })));
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
