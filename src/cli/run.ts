import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { parseDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { Session, SessionIn } from '../api/wire/session.ts';
import { attachSession, terminalSize } from './attach.ts';
import type { Client } from './client.ts';
import { type Cli, clientOf } from './command.ts';
import { followSession, patiently, sayEnd, type Write, writeThrough } from './follow.ts';
import { print, startProgress } from './terminal.ts';

interface RunOptions {
  readonly pool: string;
  readonly tty?: boolean;
  readonly interactive?: boolean;
  readonly detach?: boolean;
  readonly count: string;
  readonly env: readonly string[];
  readonly cwd?: string;
  readonly label: readonly string[];
  readonly priority: string;
  readonly timeout?: string;
  readonly grace?: string;
  readonly retries: string;
}

const MOST_IN_ONE_REQUEST = 1_000;

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function pairs(texts: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new Fault('invalid', `${option} ${text}: that is not NAME=VALUE.`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function whole(text: string, option: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new Fault('invalid', `${option} ${text}: that is not a whole number from ${least} on.`);
  }
  return value;
}

function requestOf(cli: Cli, words: readonly string[], options: RunOptions): SessionIn {
  if (options.timeout !== undefined) parseDuration(options.timeout);
  return {
    pool: options.pool,
    command: [...words],
    env: pairs(options.env, '--env'),
    labels: pairs(options.label, '--label'),
    priority: whole(options.priority, '--priority', -1_000_000),
    retries: whole(options.retries, '--retries', 0),
    stdin: Boolean(options.interactive || options.tty),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.grace === undefined ? {} : { grace: options.grace }),
    ...(options.tty ? { terminal: { ...terminalSize(cli), type: 'xterm-256color' } } : {}),
  };
}

/** The key makes it safe to repeat a request whose answer was lost. */
async function submit(cli: Cli, client: Client, requests: readonly SessionIn[]): Promise<Session[]> {
  const made: Session[] = [];
  for (let at = 0; at < requests.length; at += MOST_IN_ONE_REQUEST) {
    const headers = { 'idempotency-key': randomUUID() };
    const body = requests.slice(at, at + MOST_IN_ONE_REQUEST);
    const { items } = await patiently(cli, () =>
      client.call<{ items: Session[] }>('/sessions', { method: 'POST', body, headers }),
    );
    made.push(...items);
  }
  return made;
}

/** Ctrl-C ends the sessions, not only this command: first politely, then by force. */
function killOnInterrupt(cli: Cli, client: Client, ids: readonly string[]): () => void {
  let times = 0;
  const onInterrupt = (): void => {
    times += 1;
    const hint = times === 1 ? ' (again to force)' : '';
    cli.terminal.errors.write(
      `\nmuster: ending ${ids.length === 1 ? `session ${ids[0]}` : `${ids.length} sessions`}${hint}\n`,
    );
    for (const id of ids) {
      client.call(`/sessions/${id}/kill`, { method: 'POST', body: { force: times > 1 } }).catch(() => {});
    }
  };
  return cli.onInterrupt(onInterrupt);
}

function finish(cli: Cli, sessions: readonly Session[]): void {
  for (const session of sessions) {
    const said = sayEnd(session);
    if (said) cli.terminal.errors.write(`muster: ${said}\n`);
  }
  cli.exitWith(sessions.map((session) => session.end?.exit_code ?? 1).find((code) => code !== 0) ?? 0);
}

/** With several sessions each line says whose it is. */
function writeWithPrefix(cli: Cli, prefix: string): Write {
  const through = writeThrough(cli);
  return (line) => {
    const text = Buffer.from(line.data, 'base64').toString();
    const marked = text.replace(/^(?=.)/gm, prefix);
    through({ ...line, data: Buffer.from(marked).toString('base64') });
  };
}

async function runAll(cli: Cli, client: Client, sessions: readonly Session[]): Promise<void> {
  let ended = 0;
  const stopListening = killOnInterrupt(
    cli,
    client,
    sessions.map(({ id }) => id),
  );
  const stopProgress = startProgress(cli.terminal, () =>
    sessions.length === 1
      ? `waiting for a worker in pool ${sessions[0]?.pool}`
      : `${ended} of ${sessions.length} ended`,
  );
  try {
    const results = await Promise.all(
      sessions.map(async ({ id }, n) => {
        const plain = sessions.length === 1 ? writeThrough(cli) : writeWithPrefix(cli, `[${n}] `);
        const write: Write = (line) => {
          if (sessions.length === 1) stopProgress();
          plain(line);
        };
        const result = await followSession(cli, client, { id, write });
        ended += 1;
        return result;
      }),
    );
    stopProgress();
    finish(cli, results);
  } finally {
    stopProgress();
    stopListening();
  }
}

async function run(
  cli: Cli,
  client: Client,
  { words, options }: { words: readonly string[]; options: RunOptions },
): Promise<void> {
  const count = whole(options.count, '--count', 1);
  const isAttached = Boolean(options.interactive || options.tty);
  if (isAttached && (count > 1 || options.detach)) {
    throw new Fault('invalid', '-i and -t go with one session that is not detached.', {
      remedy: 'Leave out --count and --detach.',
    });
  }
  const request = requestOf(cli, words, options);
  const sessions = await submit(
    cli,
    client,
    Array.from({ length: count }, () => request),
  );
  if (options.detach) return print(cli.terminal, sessions.map(({ id }) => id).join('\n'));
  if (!isAttached) return runAll(cli, client, sessions);
  finish(cli, [await attachSession(cli, client, (sessions[0] as Session).id)]);
}

function withRunOptions(command: Command): Command {
  return command
    .option('-p, --pool <name>', 'the pool to run in', 'local')
    .option('-e, --env <NAME=VALUE>', 'add to its environment (may be repeated)', collect, [])
    .option('-C, --cwd <directory>', 'where it runs')
    .option('-l, --label <NAME=VALUE>', 'only on agents that offer this (may be repeated)', collect, [])
    .option('--priority <number>', 'lower goes first', '0')
    .option('--timeout <duration>', 'end it after this long, for example 90s or 2h')
    .option('--grace <duration>', 'between the polite signal and the deadly one')
    .option('--retries <count>', 'start it again this often if its machine is lost', '0');
}

export function runCommand(cli: Cli): Command {
  return withRunOptions(new Command('run'))
    .description('run a command on a worker; its output comes here, and its exit code is ours')
    .argument('<command...>', 'the command, best after --')
    .option('-i, --interactive', 'send it our input')
    .option('-t, --tty', 'give it a terminal')
    .option('-d, --detach', 'print the session id and return at once')
    .option('--count <count>', 'how many of it', '1')
    .passThroughOptions()
    .action((words: string[], options: RunOptions, command: Command) =>
      run(cli, clientOf(cli, command), { words, options }),
    );
}

export function shellCommand(cli: Cli): Command {
  return withRunOptions(new Command('shell'))
    .description('open a shell on a worker')
    .argument('[shell]', 'which one', 'bash')
    .action((shell: string, options: RunOptions, command: Command) =>
      run(cli, clientOf(cli, command), {
        words: [shell],
        options: { ...options, tty: true, interactive: true, count: '1' },
      }),
    );
}
