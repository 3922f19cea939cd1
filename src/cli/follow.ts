import type { OutputLine, Session } from '../api/wire/session.ts';
import type { Client, Query } from './client.ts';
import type { Cli } from './command.ts';
import { patiently } from './patience.ts';
import { oneLine } from './table.ts';

export type Write = (line: OutputLine) => void;

/** How far we have read; `seq` counts within an attempt. */
export interface Position {
  readonly attempt: number;
  readonly seq: number;
}

export const START: Position = { attempt: 0, seq: 0 };

export const isPast = (line: Position, { attempt, seq }: Position): boolean =>
  line.attempt > attempt || (line.attempt === attempt && line.seq > seq);

export const sessionPath = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

// The server allows waits of five minutes; proxies in between may time out earlier.
const WAIT = '50s';

/** Resolves with the session when it has ended. */
export async function waitForEnd(cli: Cli, client: Client, id: string): Promise<Session> {
  for (;;) {
    const call = { query: { wait: WAIT }, signal: cli.signal };
    const session = await patiently(cli, () => client.call<Session>(sessionPath(id), call));
    if (session.end) return session;
  }
}

/** Reads output from a position on until the answer ends; answers how far it came. */
async function readOn(
  cli: Cli,
  client: Client,
  { id, write, begin }: FollowedSession,
  from: Position,
): Promise<Position> {
  let position = from;
  await patiently(cli, async (alive) => {
    const isFirst = position === START;
    const query = { follow: true, attempt: position.attempt, after_seq: position.seq, ...(isFirst && begin) };
    const lines = await client.lines(`${sessionPath(id)}/output`, { query, signal: cli.signal });
    alive();
    for await (const text of lines) {
      const line = JSON.parse(text) as OutputLine;
      if (!isPast(line, position)) continue;
      position = { attempt: line.attempt, seq: line.seq };
      write(line);
    }
  });
  return position;
}

export interface FollowedSession {
  readonly id: string;
  readonly write: Write;
  /** What is asked for besides, until something has come: where the output begins. */
  readonly begin?: Query | undefined;
}

/** Writes all output of a session as it comes, each piece once; resolves with the ended session. */
export async function followSession(cli: Cli, client: Client, following: FollowedSession): Promise<Session> {
  let position = START;
  for (;;) {
    position = await readOn(cli, client, following, position);
    const call = { query: { wait: '1s' }, signal: cli.signal };
    const session = await patiently(cli, () => client.call<Session>(sessionPath(following.id), call));
    if (session.end) return session;
  }
}

/** The message for an end that is not a plain exit; undefined if the exit code is enough. */
export function sayEnd({ end }: Session): string | undefined {
  const message = end?.message && oneLine(end.message);
  if (!end || end.how === 'exited') return message;
  const signal = end.signal ? ` by ${oneLine(end.signal)}` : '';
  return `${end.how}${signal}${message ? `: ${message}` : ''}`;
}
