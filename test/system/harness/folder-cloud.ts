// A cloud for tests, brought to the server as a plug-in: machines are files of a folder, each with a real agent. While
// there is a file `hold`, a request to make a machine stops right before it takes effect, until there is a file `go`.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { agentFile } from '#boot/agent-file.ts';
import { type Backend, type Context, kind, type Launch, type Machine, type Provider } from '#core/provider.ts';
import { sendSignal } from '#host/processes.ts';

const FolderCloudConfig = z.strictObject({ folder: z.string() });

interface Kept {
  readonly machine: Machine;
  readonly pid: number;
}

function openFolderCloud(folder: string, { clock, agentCommand }: Context): Backend {
  const machines = join(folder, 'machines');
  mkdirSync(machines, { recursive: true });
  const fileOf = (name: string): string => join(machines, `${name}.json`);
  const kept = (file: string): Kept => JSON.parse(readFileSync(join(machines, file), 'utf8')) as Kept;

  /** As a request that is on its way: nothing of this process can call it back. */
  function waitAtTheGate(name: string): void {
    if (!existsSync(join(folder, 'hold'))) return;
    writeFileSync(join(folder, 'asked'), name);
    execFileSync('sh', ['-c', 'while [ ! -e "$1" ]; do sleep 0.02; done', 'gate', join(folder, 'go')]);
  }

  function make({ mark, boot }: Launch, name: string): void {
    waitAtTheGate(name);
    if (existsSync(fileOf(name))) return;
    const config = join(folder, `${name}.yaml`);
    writeFileSync(config, agentFile(boot, { name, workDir: join(folder, 'work', name) }), { mode: 0o600 });
    const log = openSync(join(folder, `${name}.log`), 'a');
    const [program = '', ...words] = agentCommand;
    const agent = spawn(program, [...words, 'agent', '--config', config], {
      detached: true,
      stdio: ['ignore', log, log],
    });
    agent.unref();
    const machine: Machine = { name, mark, createdAt: clock.now(), state: 'running' };
    writeFileSync(fileOf(name), JSON.stringify({ machine, pid: agent.pid ?? 0 } satisfies Kept));
  }

  return {
    cloud: `folder-cloud:${folder}`,
    list: async () => readdirSync(machines).map((file) => kept(file).machine),
    async create(launch) {
      for (const name of launch.names) make(launch, name);
      return launch.names.map((name) => ({ name }));
    },
    async delete(gone) {
      for (const { name } of gone) {
        if (!existsSync(fileOf(name))) continue;
        sendSignal(-kept(`${name}.json`).pid, 'SIGKILL');
        rmSync(fileOf(name));
      }
      return gone.map(({ name }) => ({ name }));
    },
  };
}

export default {
  id: 'folder-cloud',
  title: 'A cloud of files for tests',
  backends: {
    folderCloud: kind({
      summary: 'Machines are files of a folder.',
      config: FolderCloudConfig,
      example: { folder: '/tmp/folder-cloud' },
      trust: 'operator only',
      isLocal: true,
      open: async ({ folder }, context) => openFolderCloud(folder, context),
    }),
  },
} satisfies Provider;
