import { Command } from 'commander';
import type { Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { followSession, sayEnd, writeThrough } from './follow.ts';
import { age, type Listing, show, showList } from './show.ts';
import { renderFacts } from './table.ts';
import { print, watchPicture } from './terminal.ts';

const path = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

function listing(nowMs: number): Listing<Session> {
  return {
    nothing: 'No sessions. Start one with `muster run -- COMMAND`.',
    columns: [
      { title: 'ID', value: (session) => session.id },
      { title: 'POOL', value: (session) => session.pool },
      { title: 'PHASE', value: (session) => session.end?.how ?? session.phase },
      { title: 'EXIT', value: (session) => session.end?.exit_code, align: 'right' },
      { title: 'AGE', value: (session) => age(Date.parse(session.accepted_at), nowMs), align: 'right' },
      { title: 'WORKER', value: (session) => session.worker },
      { title: 'COMMAND', value: (session) => session.command.join(' ').slice(0, 60) },
    ],
  };
}

function sessionFacts(session: Session): string {
  return renderFacts([
    ['Id', session.id],
    ['Pool', session.pool],
    ['Phase', session.phase],
    ['Command', session.command.join(' ')],
    ['Accepted', `${session.accepted_at} by ${session.by}`],
    ['Worker', session.worker],
    ['Started', session.started_at],
    ['Attempt', session.attempt],
    ['Killed', session.kill && `${session.kill.at} by ${session.kill.by}`],
    ['Ended', session.end && `${session.end.at}, ${session.end.how}, exit code ${session.end.exit_code}`],
    ['Message', session.end?.message],
  ]);
}

async function listSessions(
  client: Client,
  options: { pool?: string; all?: boolean; limit: string },
): Promise<Session[]> {
  if (options.all) return client.all<Session>('/sessions', { pool: options.pool });
  const page = await client.call<{ items: Session[] }>('/sessions', {
    query: { pool: options.pool, limit: options.limit },
  });
  return page.items;
}

export function sessionCommand(cli: Cli): Command {
  const session = new Command('session').alias('sessions').description('commands that run, wait or have run');

  session.addCommand(
    showing('ls', 'list sessions, live ones first')
      .alias('list')
      .option('-p, --pool <name>', 'only of this pool')
      .option('-n, --limit <count>', 'at most this many', '50')
      .option('-a, --all', 'every session that is still remembered')
      .option('-w, --watch', 'show changes until interrupted')
      .action(async (options: { pool?: string; all?: boolean; limit: string; watch?: boolean }, command: Command) => {
        const client = clientOf(cli, command);
        const draw = async (): Promise<string> =>
          showList(await listSessions(client, options), formatOf(command), listing(cli.terminal.clock.now()));
        if (!options.watch) return print(cli.terminal, await draw());
        await watchPicture(cli.terminal, draw, { everyMs: 500, signal: cli.signal });
      }),
  );
  session.addCommand(
    showing('show', 'show one session')
      .argument('<id>')
      .action(async (id: string, _options, command: Command) => {
        const found = await clientOf(cli, command).call<Session>(path(id));
        print(
          cli.terminal,
          show(found, formatOf(command), () => sessionFacts(found)),
        );
      }),
  );
  session.addCommand(logsCommand(cli));
  session.addCommand(
    new Command('kill')
      .description('end a session: a polite signal, then a deadly one after its grace')
      .argument('<id>')
      .option('-f, --force', 'the deadly signal at once')
      .action(async (id: string, options: { force?: boolean }, command: Command) => {
        await clientOf(cli, command).call(`${path(id)}/kill`, {
          method: 'POST',
          body: { force: options.force ?? false },
        });
        print(cli.terminal, `Session ${id} is being ended.`);
      }),
  );
  return session;
}

function logsCommand(cli: Cli): Command {
  return new Command('logs')
    .description('the output of a session')
    .argument('<id>')
    .option('-f, --follow', 'until it has ended')
    .action(async (id: string, options: { follow?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const write = writeThrough(cli);
      if (options.follow) {
        const ended = await followSession(cli, client, { id, write });
        const said = sayEnd(ended);
        if (said) cli.terminal.errors.write(`muster: ${said}\n`);
        return;
      }
      for await (const line of client.lines(`${path(id)}/output`)) if (line !== '') write(JSON.parse(line));
    });
}
