import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { AgentCertificate } from '../api/wire/token.ts';
import type { Cli } from './command.ts';
import { actCommand } from './noun.ts';

/** Never overwrites an existing file: a lost key cannot be restored. */
function writeNew(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    throw new Fault(code === 'EEXIST' ? 'conflict' : 'invalid', `Cannot write ${path}: ${code}.`, {
      remedy: 'Give an empty directory with --dir.',
    });
  }
}

/** For agents of pools with `agent_auth: mtls`. */
export function certificateCommand(cli: Cli): Command {
  return actCommand<{ dir: string }>(cli, {
    name: 'certificate',
    summary: 'create a client certificate for agents of a pool with `agent_auth: mtls`',
    of: '<name>',
    async act(client, name, { dir }) {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const [key, certificate, ca] = ['agent.key', 'agent.crt', 'ca.crt'].map((file) => join(dir, file)) as [
        string,
        string,
        string,
      ];
      const made = await client.call<AgentCertificate>('/agent-certificates', { method: 'POST', body: { name } });
      writeNew(key, made.key, 0o600);
      writeNew(certificate, made.certificate, 0o644);
      writeNew(ca, made.ca, 0o644);
      return `Written: ${key}, ${certificate}, ${ca}.`;
    },
  }).option('--dir <directory>', 'where to write agent.key, agent.crt and ca.crt', '.');
}
