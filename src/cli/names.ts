// Names that a server or this machine knows, for the completion of shells.
import type { Computer } from '../api/wire/computer.ts';
import type { Pool } from '../api/wire/pool.ts';
import type { Session } from '../api/wire/session.ts';
import type { Worker } from '../api/wire/worker.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { LOCAL, readContexts } from './contexts.ts';

const MOST_SESSIONS = 50;
const GIVE_UP_MS = 2_000;

/** bash expands what it is given to choose from: a name of another user must not be run as a command. */
const IS_PLAIN = /^[A-Za-z0-9@._:/-]+$/;

const calledOf = ({ id, name, index }: Session): readonly string[] =>
  name === undefined ? [id] : [index === undefined ? name : `${name}/${index}`, id];

type Reader = (cli: Cli, open: () => Client) => Promise<readonly string[]>;

const READERS = {
  pool: async (_cli, open) => (await open().list<Pool>('/pools')).map(({ name }) => name),
  worker: async (_cli, open) => (await open().list<Worker>('/workers')).map(({ name }) => name),
  session: async (_cli, open) =>
    (await open().list<Session>('/sessions', {}, MOST_SESSIONS)).flatMap(calledOf).concat('@last'),
  computer: async (_cli, open) => (await open().list<Computer>('/computers')).map(({ name }) => name),
  context: async ({ contextsFile }) => [LOCAL, ...readContexts(contextsFile).contexts.map(({ name }) => name)],
} as const satisfies Record<string, Reader>;

export type NameKind = keyof typeof READERS;
export const NAME_KINDS = Object.keys(READERS) as NameKind[];

/** All names of a kind; none where the server does not answer soon, since a shell waits. */
export async function namesOfKind(cli: Cli, kind: NameKind, open: () => Client): Promise<readonly string[]> {
  const { clock } = cli.terminal;
  const over = Promise.withResolvers<readonly string[]>();
  const cancel = clock.alarm(GIVE_UP_MS, () => over.resolve([]));
  const read: Reader = READERS[kind];
  const found = await Promise.race([read(cli, open).catch(() => []), over.promise]);
  cancel();
  return found.filter((name) => IS_PLAIN.test(name));
}
