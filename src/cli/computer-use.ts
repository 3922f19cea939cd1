// What people do on a computer: commands, shells, copies, forwarded ports.
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Computer } from '../api/wire/computer.ts';
import type { ComputerSessionIn } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import { type Cli, clientOf } from './command.ts';
import { computerLine } from './computer-text.ts';
import { copyFiles } from './cp.ts';
import { withExamples } from './example.ts';
import { named, span } from './option.ts';
import { patiently } from './patience.ts';
import { forwardPorts } from './port-forward.ts';
import { runAttached, runSessions } from './run-sessions.ts';
import { type EnvOptions, repeated, sessionEnv } from './session-env.ts';
import { submit } from './submit.ts';
import { sizeOf } from './terminal.ts';

export const computerPath = (name: string): string => `/computers/${encodeURIComponent(name)}`;
const NAME = '<name>';

interface ExecOptions extends EnvOptions {
  readonly tty?: boolean;
  readonly interactive?: boolean;
  readonly cwd?: string;
  readonly timeout?: string;
}

async function exec(cli: Cli, client: Client, name: string, request: ComputerSessionIn): Promise<void> {
  const [session] = await submit(cli, client, async () => [request], `${computerPath(name)}/sessions`);
  if (!session) return;
  await (session.stdin ? runAttached(cli, client, session) : runSessions(cli, client, [session]));
}

function sessionOf(cli: Cli, command: readonly string[], options: ExecOptions): ComputerSessionIn {
  const { cwd, timeout, tty, interactive } = options;
  const env = sessionEnv(options, cli.variable);
  return {
    command: [...command],
    stdin: Boolean(interactive || tty),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeout }),
    ...(tty && { terminal: { ...sizeOf(cli.terminal), type: 'xterm-256color' } }),
  };
}

const withExecOptions = (command: Command): Command =>
  command
    .option(
      '-e, --env <NAME[=VALUE]>',
      'set an environment variable; without a value, it is taken from the environment of this command (repeatable)',
      repeated,
    )
    .option(
      '--env-file <file>',
      'read environment variables from a file, one NAME[=VALUE] a line (repeatable)',
      repeated,
    )
    .option('-C, --cwd <directory>', 'working directory, an absolute path (default: the home folder)')
    .option('--timeout <duration>', 'end it after this time, for example 90s or 2h', span('--timeout'));

function execCommand(cli: Cli): Command {
  const command = withExecOptions(new Command('exec'))
    .description('run a command on a computer; prints its output and exits with its exit code')
    .argument(NAME, undefined, named(NAME))
    .argument('<command...>', 'the command; write it after --')
    .option('-i, --interactive', 'send standard input')
    .option('-t, --tty', 'allocate a terminal; also sends standard input')
    .action((name: string, words: string[], options: ExecOptions, command: Command) =>
      exec(cli, clientOf(cli, command), name, sessionOf(cli, words, options)),
    );
  return withExamples(command, [
    ['muster computer exec dev -- uname -a', 'prints its output, exits with its exit code'],
    ['echo hi | muster computer exec -i dev -- cat', 'with standard input'],
  ]);
}

function shellCommand(cli: Cli): Command {
  return withExecOptions(new Command('shell'))
    .description('open a shell on a computer')
    .argument(NAME, undefined, named(NAME))
    .argument('[shell]', 'shell to start', 'bash')
    .action((name: string, shell: string, options: ExecOptions, command: Command) =>
      exec(cli, clientOf(cli, command), name, sessionOf(cli, [shell], { ...options, tty: true })),
    );
}

function cpCommand(cli: Cli): Command {
  const place = {
    pathOf: computerPath,
    said: 'a computer, written NAME:PATH',
    example: 'muster computer cp dev:/etc/hosts .',
  };
  const command = new Command('cp')
    .description('copy files and folders from or to a computer')
    .argument('<from>', 'NAME:PATH, or a path of this machine')
    .argument('<to>', 'a path of this machine, or NAME:PATH')
    .action((from: string, to: string, _options, command: Command) =>
      copyFiles(cli, clientOf(cli, command), { sides: [from, to], place }),
    );
  return withExamples(command, [
    ['muster computer cp dev:/etc/hosts .', 'from an absolute path'],
    ['muster computer cp data.csv dev:', 'into the home folder'],
  ]);
}

const LOOK_EVERY_MS = 5_000;

/** Resolves when it does not run any more. */
async function untilOver(cli: Cli, client: Client, name: string): Promise<string> {
  for (;;) {
    const now = await patiently(cli, () => client.call<Computer>(computerPath(name), { signal: cli.signal }));
    if (now.status !== 'running') return computerLine(now);
    await cli.terminal.clock.sleep(LOOK_EVERY_MS, cli.signal);
  }
}

function portForwardCommand(cli: Cli): Command {
  const command = new Command('port-forward')
    .description('forward ports of this machine to a computer, until it is gone or Ctrl-C')
    .argument(NAME, undefined, named(NAME))
    .argument('<port...>', 'PORT, LOCAL:REMOTE, or :REMOTE for any free local port')
    .action(async (name: string, ports: string[], _options, command: Command) => {
      const client = clientOf(cli, command);
      const { status, ...rest } = await client.call<Computer>(computerPath(name));
      if (status !== 'running')
        throw new Fault('conflict', computerLine({ status, ...rest }), {
          remedy: `See \`muster computer why ${name}\`.`,
        });
      const over = () => untilOver(cli, client, name);
      await forwardPorts(cli, client, { ports, path: computerPath(name), written: name, over });
    });
  return withExamples(command, [['muster computer port-forward dev 8888', 'then open http://127.0.0.1:8888']]);
}

export const useCommands = (cli: Cli): readonly Command[] => [
  execCommand(cli),
  shellCommand(cli),
  cpCommand(cli),
  portForwardCommand(cli),
];
