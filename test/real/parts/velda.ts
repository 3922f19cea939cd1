import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runProgram, startProgram } from '../../system/harness/cli.ts';
import type { RunningServer } from '../../system/harness/server.ts';
import type { World } from '../../system/harness/world.ts';
import type { Part } from './part.ts';
import { type Ran, run, runWell } from './run.ts';

/** Velda's program: its agent and its command line. */
export interface VeldaProgram {
  readonly file: string;
}

const IN_OWN_ROOT = join(import.meta.dirname, 'in-own-root.sh');
// The agent sets the host name, and writes below / and /run.
const UNSHARE = ['--mount', '--uts', '--pid', '--fork', '--kill-child', 'sh', IN_OWN_ROOT];
const PROFILE = 'default';

/** Its module needs versions that Go's module proxy no longer has, so it is not built here. */
export async function veldaProgram(world: World): Promise<Part<VeldaProgram>> {
  const { VELDA_PROGRAM: file } = process.env;
  if (file === undefined || !existsSync(file)) return { missing: "VELDA_PROGRAM, the path of Velda's program" };
  const { code } = await runProgram(world, 'unshare', [...UNSHARE, world.folder, 'true']);
  return code === 0 ? { file } : { missing: 'the right to mount (root)' };
}

/** Starts Velda's agent; the answer ends it. */
export function startVeldaAgent(world: World, { file }: VeldaProgram, { grpc }: RunningServer, name: string) {
  const config = { broker: { address: `http://127.0.0.1:${grpc}` }, daemon_config: { agent_name: name } };
  const written = world.write(`${name}.yaml`, JSON.stringify(config));
  const script =
    'mkdir /run/velda && cp "$1" /run/velda/velda.yaml && exec "$2" agent daemon --non-privileged --pool shell';
  return startProgram(world, 'unshare', [...UNSHARE, world.folder, 'sh', '-c', script, 'sh', written, file]);
}

/** Velda's command line as its user has it after `velda init` and a login. */
export async function openVeldaCli(
  world: World,
  { file }: VeldaProgram,
  { grpc }: RunningServer,
): Promise<(...words: string[]) => Promise<Ran>> {
  const folder = world.path('velda');
  const env = { ...world.env, VELDA_CONFIG_DIR: folder };
  await runWell(file, ['init', '--broker', `http://127.0.0.1:${grpc}`], { env });
  const tokens = new DatabaseSync(join(folder, 'access_token.db'));
  tokens.exec('CREATE TABLE tokens(profile TEXT PRIMARY KEY, token TEXT, expiration TIMESTAMP NOT NULL)');
  tokens
    .prepare('INSERT INTO tokens VALUES (?, ?, ?)')
    .run(PROFILE, world.read('data/admin.token').trim(), '2099-01-01 00:00:00+00:00');
  tokens.close();
  return (...words) => run(file, words, { env, cwd: world.folder });
}
