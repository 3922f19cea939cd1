import { Command, Option } from 'commander';
import { SESSION_ENDS, SESSION_PHASES } from '#core/session.ts';
import type { Session } from '../api/wire/session.ts';
import { attachSession } from './attach.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { withExamples } from './example.ts';
import { followSession, sayEnd, sessionPath, waitForEnd } from './follow.ts';
import { listCommand, nounCommand, showCommand } from './noun.ts';
import { named, whole } from './option.ts';
import { writeLines, writeThrough } from './output.ts';
import { ageOf, moment, type TableLayout } from './show.ts';
import { oneLine, pairsLine, renderFacts } from './table.ts';
import { print, remark } from './terminal.ts';

const ID = 'id of the session, its first characters, its name, NAME/NUMBER, or @last';

const LONGEST_COMMAND = 60;

function commandOf({ command }: Session): string {
  const text = oneLine(command.join(' ').replace(/\s+/g, ' '));
  return text.length > LONGEST_COMMAND ? `${text.slice(0, LONGEST_COMMAND - 1)}…` : text;
}

const nameOf = ({ name, index }: Session): string | undefined =>
  name === undefined || index === undefined ? name : `${name}/${index}`;

/** An id for what may name another session a moment later, as `@last` and a name do. */
const idOf = async (client: Client, written: string): Promise<string> =>
  (await client.call<Session>(sessionPath(written))).id;

const listing = (nowMs: number): TableLayout<Session> => ({
  nothing: 'No sessions. Start one with `muster run -- COMMAND`.',
  columns: [
    { title: 'ID', value: (session) => session.id },
    { title: 'NAME', value: nameOf },
    { title: 'POOL', value: (session) => session.pool },
    { title: 'PHASE', value: (session) => session.end?.how ?? session.phase },
    { title: 'EXIT', value: (session) => session.end?.exit_code, align: 'right' },
    { title: 'AGE', value: (session) => ageOf(session.accepted_at, nowMs), align: 'right' },
    { title: 'WORKER', value: (session) => session.worker },
    { title: 'COMMAND', value: commandOf },
  ],
});

const endOf = ({ how, exit_code: code }: NonNullable<Session['end']>): string => `${how}, exit code ${code}`;

function sessionFacts(session: Session): string {
  const { end, kill, output, started_at: startedAt } = session;
  return renderFacts([
    ['Id', session.id],
    ['Name', nameOf(session)],
    ['Number', session.index === undefined ? undefined : `${session.index} of ${session.count}, from 0`],
    ['Pool', session.pool],
    ['Phase', session.phase],
    ['Waits', session.why && oneLine(session.why)],
    ['Command', oneLine(session.command.join(' '))],
    ['User', session.user && oneLine(session.user)],
    ['Directory', session.cwd && oneLine(session.cwd)],
    ['Variables', oneLine(session.env_names.join(', '))],
    ['Labels', pairsLine(session.labels)],
    ['Priority', session.priority],
    ['Timeout', session.timeout],
    ['Accepted', oneLine(`${moment(session.accepted_at)} by ${session.by}`)],
    ['Worker', session.worker],
    ['Started', startedAt && moment(startedAt)],
    ['Attempt', `${session.attempt}, retries ${session.retries}`],
    ['Killed', kill && oneLine(`${moment(kill.at)} by ${kill.by}${kill.force ? ', with SIGKILL' : ''}`)],
    ['Output', output && `${output.bytes} bytes${output.is_cut ? ', cut: there was more' : ''}`],
    ['Ended', end && `${moment(end.at)}, ${endOf(end)}`],
    ['Message', end?.message && oneLine(end.message)],
  ]);
}

interface ListOptions {
  readonly pool?: string;
  readonly name?: string;
  readonly phase?: string;
  readonly all?: boolean;
  readonly limit: number;
}

const readList = (client: Client, { pool, name, phase, all, limit }: ListOptions): Promise<Session[]> =>
  client.list('/sessions', { pool, name, phase }, all ? undefined : limit);

function lsCommand(cli: Cli, name: string): Command {
  const shape = { summary: 'list sessions, newest first', isLively: true, read: readList, listing };
  return listCommand<Session, ListOptions>(cli, shape, name)
    .option('-p, --pool <name>', 'only sessions of this pool')
    .option('--name <name>', 'only sessions of this name')
    .addOption(
      new Option('--phase <phase>', 'only sessions in this phase, or that ended so').choices([
        ...SESSION_PHASES,
        ...SESSION_ENDS,
      ]),
    )
    .option('-n, --limit <count>', 'largest number of sessions', whole('--limit', 1), 50)
    .option('-a, --all', 'list all sessions, without a limit');
}

function tellEnd({ terminal }: Cli, session: Session): void {
  const said = sayEnd(session);
  if (said) remark(terminal, `session ${session.id}: ${said}`);
}

function finish(cli: Cli, session: Session): void {
  tellEnd(cli, session);
  cli.exitWith(session.end?.exit_code ?? 1);
}

interface LogsOptions {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly since?: string;
  readonly timestamps?: boolean;
}

function logsCommand(cli: Cli): Command {
  return new Command('logs')
    .description('print the output of a session')
    .argument('<id>', ID, named('<id>'))
    .option('-f, --follow', 'print new output until the session has ended')
    .option('--tail <lines>', 'print only the last lines of the output', whole('--tail', 0, 1_000_000))
    .option(
      '--since <when>',
      'print only output since then: a duration such as 10m, or a time such as 2026-01-01T12:00:00Z',
      named('--since'),
    )
    .option('-t, --timestamps', 'begin each line with the time at which it was written')
    .action(async (written: string, options: LogsOptions, command: Command) => {
      const client = clientOf(cli, command);
      const { tail, since } = options;
      const begin = { tail, since };
      const lines = writeLines(cli.terminal, ({ at }) => `${at} `);
      const write = options.timestamps ? lines.write : writeThrough(cli.terminal);
      if (options.follow) {
        const session = await followSession(cli, client, { id: await idOf(client, written), write, begin });
        lines.end();
        return tellEnd(cli, session);
      }
      const answer = await client.lines(`${sessionPath(written)}/output`, { query: begin, signal: cli.signal });
      for await (const line of answer) write(JSON.parse(line));
      lines.end();
    });
}

function waitCommand(cli: Cli): Command {
  return new Command('wait')
    .description('wait until a session has ended; exits with its exit code')
    .argument('<id>', ID, named('<id>'))
    .action(async (written: string, _options, command: Command) => {
      const client = clientOf(cli, command);
      finish(cli, await waitForEnd(cli, client, await idOf(client, written)));
    });
}

function attachCommand(cli: Cli): Command {
  return new Command('attach')
    .description('attach this terminal to a running session; exits with its exit code')
    .argument('<id>', ID, named('<id>'))
    .action(async (id: string, _options, command: Command) => {
      const client = clientOf(cli, command);
      const session = await client.call<Session>(sessionPath(id));
      finish(cli, await attachSession(cli, client, { session, begun() {} }));
    });
}

function killCommand(cli: Cli): Command {
  return new Command('kill')
    .description('end sessions: SIGTERM, then SIGKILL after their grace period')
    .argument('<id...>', ID)
    .option('-f, --force', 'send SIGKILL at once')
    .action(async (written: string[], { force = false }: { force?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      for (const one of written.map(named('<id>'))) {
        const path = `${sessionPath(one)}/kill`;
        const { id, end } = await client.call<Session>(path, { method: 'POST', body: { force } });
        print(cli.terminal, end ? `Session ${id} has ended: ${endOf(end)}.` : `Ending session ${id}.`);
      }
    });
}

function sessionCommand(cli: Cli): Command {
  const session = nounCommand('session', 'commands: queued, running and ended', [
    lsCommand(cli, 'ls'),
    showCommand<Session>(cli, {
      name: 'show',
      summary: 'show one session',
      of: '<id>',
      read: (client, id) => client.call(sessionPath(id)),
      text: sessionFacts,
    }),
    logsCommand(cli),
    waitCommand(cli),
    attachCommand(cli),
    killCommand(cli),
  ]);
  return withExamples(session, [
    ['muster session ls --phase queued', 'sessions that wait for a worker'],
    ['muster session logs -f @last', 'print the output of the session that you started last'],
    ['muster session wait ID', 'exits with its exit code'],
    ['muster session kill ID', 'ends it'],
    ['muster session kill sweep/0 sweep/1', 'ends both'],
  ]);
}

export const commands: readonly CliCommand[] = [
  { name: 'logs', order: 22, make: logsCommand },
  { name: 'ps', order: 24, make: (cli) => lsCommand(cli, 'ps') },
  { name: 'session', order: 50, make: sessionCommand },
];
