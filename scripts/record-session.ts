// `npm run record`: runs the commands below on a server of its own, and writes docs/pictures/session.svg.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type RecordedCommand, terminalPicture } from './terminal-picture.ts';

const ROOT = join(import.meta.dirname, '..');

/** The session that the README shows. */
export const COMMANDS = [
  'ls',
  'muster run --sync . -- sh train.sh --rate 0.1',
  `muster run --sync . --count 4 --name sweep -d -- sh -c 'sh train.sh --seed $MUSTER_INDEX; sleep 3'`,
  'muster ps --limit 4',
  'muster pool ls',
  'muster pool why local',
  'muster logs sweep/2 -f',
  'muster cp sweep/2:model.txt . && cat model.txt',
] as const;

const TRAIN = `# Stands for a training program.
for epoch in 1 2 3; do echo "epoch $epoch of $*: loss 0.$((9 - epoch * 2))"; sleep 0.4; done
echo "weights of $*" >model.txt
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function configuration(): Promise<string> {
  const at = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
  const server = { http_address: await at(), grpc_address: await at(), peer_address: await at() };
  const limits = { max_agents: 4, min_idle_agents: 1, max_idle_agents: 2, idle_decay: '1m' };
  return stringify({ server, agent_pools: [{ name: 'local', auto_scaler: { ...limits, backend: { process: {} } } }] });
}

function printedBy(child: ChildProcess, onText: (text: string) => void): Promise<number> {
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onText);
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** Runs one command as its reader would, and refuses a recording of a failure. */
async function recorded(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<RecordedCommand> {
  const printed: { afterMs: number; text: string }[] = [];
  const startMs = performance.now();
  const child = spawn('bash', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const code = await printedBy(child, (text) => printed.push({ afterMs: performance.now() - startMs, text }));
  if (code !== 0) throw new Error(`"${command}" ended with ${code}:\n${printed.map(({ text }) => text).join('')}`);
  return { command, printed };
}

/** Starts a server in a folder of its own and runs the commands there, one after the other. */
export async function recordSession(): Promise<RecordedCommand[]> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-record-'));
  for (const name of ['bin', 'server', 'home', 'project']) mkdirSync(join(folder, name));
  const main = `"${process.execPath}" "${join(ROOT, 'src/main.ts')}"`;
  writeFileSync(join(folder, 'bin/muster'), `#!/bin/sh\nexec ${main} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'project/train.sh'), TRAIN);
  writeFileSync(join(folder, 'server/muster.yaml'), await configuration());
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    LANG: 'C.UTF-8',
    MUSTER_DATA_DIR: join(folder, 'server/data'),
  };
  const server = spawn(join(folder, 'bin/muster'), ['server', '--config', 'muster.yaml'], {
    cwd: join(folder, 'server'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const serving = Promise.withResolvers<void>();
  const ended = printedBy(server, (text) => {
    log += text;
    if (log.includes('serving')) serving.resolve();
  });
  void ended.then(() => serving.reject(new Error(`The server ended:\n${log}`)));
  try {
    await serving.promise;
    const commands: RecordedCommand[] = [];
    for (const command of COMMANDS) commands.push(await recorded(command, join(folder, 'project'), env));
    return commands;
  } finally {
    server.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const picture = terminalPicture('A session at a terminal', await recordSession());
  writeFileSync(join(ROOT, 'docs/pictures/session.svg'), picture);
}
