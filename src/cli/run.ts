import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import { SESSION_NAME } from '#core/session.ts';
import type { SessionIn } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { withExamples } from './example.ts';
import { named, pair, span, whole } from './option.ts';
import { runAttached, runSessions } from './run-sessions.ts';
import { type EnvOptions, repeated, sessionEnv } from './session-env.ts';
import { submit } from './submit.ts';
import { type SyncOptions, sendFolder } from './sync.ts';
import { print, sizeOf } from './terminal.ts';

interface RunOptions extends EnvOptions, SyncOptions {
  readonly pool?: string;
  readonly tty?: boolean;
  readonly interactive?: boolean;
  readonly detach?: boolean;
  readonly count?: number;
  readonly name?: string;
  readonly cwd?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly timeout?: string;
  readonly grace?: string;
  readonly retries: number;
}

/** The server checks it too, but cannot name the option. */
function sessionName(text: string): string {
  const name = named('--name')(text);
  if (SESSION_NAME.test(name)) return name;
  throw new Fault('invalid', `--name ${name} is no name of a session.`, {
    remedy: 'Use at most 63 letters, digits, dots, underscores and hyphens, beginning with a letter.',
  });
}

function requestOf(cli: Cli, { place }: Client, words: readonly string[], options: RunOptions): SessionIn {
  const { label: labels, priority, retries, cwd, timeout, grace } = options;
  const pool = options.pool ?? (cli.variable('MUSTER_POOL') || place.pool);
  const env = sessionEnv(options, cli.variable);
  const caller = cli.place();
  return {
    ...(pool !== undefined && { pool }),
    command: [...words],
    priority,
    retries,
    stdin: Boolean(options.interactive || options.tty),
    ...(options.name !== undefined && { name: options.name }),
    ...(env && { env }),
    ...(labels && { labels }),
    ...(cwd !== undefined && { cwd }),
    ...(caller && options.sync === undefined && { caller }),
    ...(timeout !== undefined && { timeout }),
    ...(grace !== undefined && { grace }),
    ...(options.tty && { terminal: { ...sizeOf(cli.terminal), type: 'xterm-256color' } }),
  };
}

async function run(cli: Cli, client: Client, request: SessionIn, options: RunOptions): Promise<void> {
  const { count = 1 } = options;
  const isAttached = request.stdin === true;
  if (isAttached && (count > 1 || options.detach)) {
    throw new Fault('invalid', '-i and -t work only with one session that is not detached.', {
      remedy: 'Leave out --count and --detach.',
    });
  }
  const sessions = await submit(cli, client, async () => {
    const files = options.sync === undefined ? {} : { files: await sendFolder(cli, client, options) };
    return Array.from({ length: count }, (_, index) =>
      options.count === undefined ? { ...request, ...files } : { ...request, ...files, index, count },
    );
  });
  if (options.detach) return print(cli.terminal, sessions.map(({ id }) => id).join('\n'));
  const [only] = sessions;
  if (isAttached && only) return runAttached(cli, client, only);
  await runSessions(cli, client, sessions);
}

function withRunOptions(command: Command): Command {
  return command
    .option(
      '-p, --pool <name>',
      'the pool to run in (MUSTER_POOL; default: the only pool, or the pool local)',
      named('--pool'),
    )
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
    .option(
      '--sync [folder]',
      'send a folder (default: this one) and run in it; leaves out .git and what .gitignore and .musterignore name',
    )
    .option('-y, --yes', 'with --sync: send the home folder or / too')
    .option(
      '-C, --cwd <directory>',
      'working directory; with --sync a relative one is inside the folder that is sent, in pools of this machine it is below this folder',
    )
    .option('-l, --label <NAME=VALUE>', 'run only on workers with this label (repeatable)', pair('--label'))
    .option(
      '--priority <number>',
      'priority in the queue; lower numbers run first',
      whole('--priority', -1_000_000, 1_000_000),
      0,
    )
    .option('--timeout <duration>', 'end the session after this time, for example 90s or 2h', span('--timeout'))
    .option(
      '--grace <duration>',
      'time between SIGTERM and SIGKILL (default: 10s)',
      span('--grace', { mayBeZero: true }),
    )
    .option('--name <name>', 'name of the session, in place of its id; unique among unended sessions', sessionName)
    .option('--retries <count>', 'number of restarts if its machine is lost', whole('--retries', 0, 100), 0);
}

function runCommand(cli: Cli): Command {
  const command = withRunOptions(new Command('run'))
    .description('run a command on a worker; prints its output and exits with its exit code')
    .argument('<command...>', 'the command; write it after --')
    .option('-i, --interactive', 'send standard input')
    .option('-t, --tty', 'allocate a terminal; also sends standard input')
    .option('-d, --detach', 'print the session id and do not wait')
    .option(
      '--count <count>',
      'number of sessions to start; each has its number, from 0, in MUSTER_INDEX',
      whole('--count', 1, 100_000),
    )
    .passThroughOptions()
    .action((words: string[], options: RunOptions, command: Command) => {
      const client = clientOf(cli, command);
      return run(cli, client, requestOf(cli, client, words, options), options);
    });
  return withExamples(command, [
    ['muster run -- uname -a', 'prints its output, exits with its exit code'],
    ['muster run --sync . -- python3 train.py', 'with the files of this folder'],
    ['muster run -it -- bash', 'with a terminal'],
    ['echo hi | muster run -i -- cat', 'with standard input'],
    ['muster run -e COLOUR=blue --timeout 5m -- make test', 'with a variable and a time limit'],
    ['muster run -e API_TOKEN --env-file build.env -- make test', 'with variables that no process list shows'],
    ['muster run --count 50 -- sleep 1', 'fifty sessions; each line names its session'],
    ["muster run --count 8 --name sweep -- sh -c './train --seed $MUSTER_INDEX'", 'sweep/0 to sweep/7'],
    ['muster run -d -- make all', 'prints its id; see `muster logs -f @last`'],
  ]);
}

function shellCommand(cli: Cli): Command {
  const command = withRunOptions(new Command('shell'))
    .description('open a shell on a worker')
    .argument('[shell]', 'shell to start', 'bash')
    .action((shell: string, options: RunOptions, command: Command) => {
      const client = clientOf(cli, command);
      return run(cli, client, requestOf(cli, client, [shell], { ...options, tty: true }), options);
    });
  return withExamples(command, [
    ['muster shell', 'bash in the only pool, or in the pool local'],
    ['muster shell -p gpu zsh', 'zsh in the pool gpu'],
  ]);
}

export const commands: readonly CliCommand[] = [
  { name: 'run', order: 10, make: runCommand },
  { name: 'shell', order: 20, make: shellCommand },
];
