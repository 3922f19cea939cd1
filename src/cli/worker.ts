import { Command } from 'commander';
import type { Worker } from '../api/wire/worker.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { age, type Listing, show, showList } from './show.ts';
import { renderFacts } from './table.ts';
import { print, watchPicture } from './terminal.ts';

const path = (name: string): string => `/workers/${encodeURIComponent(name)}`;

function listing(nowMs: number): Listing<Worker> {
  return {
    nothing: 'No workers.',
    columns: [
      { title: 'NAME', value: (worker) => worker.name },
      { title: 'POOL', value: (worker) => worker.pool },
      { title: 'PHASE', value: (worker) => worker.phase },
      {
        title: 'SLOTS',
        value: (worker) => worker.agent && `${worker.agent.free_slots}/${worker.agent.slots}`,
        align: 'right',
      },
      { title: 'SESSIONS', value: (worker) => worker.sessions.length, align: 'right' },
      { title: 'AGE', value: (worker) => age(Date.parse(worker.asked_at), nowMs), align: 'right' },
      { title: 'WHY', value: (worker) => worker.removal?.why ?? worker.drain?.why ?? '' },
    ],
  };
}

function workerFacts(worker: Worker): string {
  const { agent } = worker;
  return renderFacts([
    ['Name', worker.name],
    ['Pool', worker.pool],
    ['Phase', worker.phase],
    ['Backend', worker.backend ?? 'none: it came by itself'],
    ['Machine', worker.machine],
    ['Asked for', worker.asked_at],
    ['Joined', worker.joined_at],
    [
      'Agent',
      agent &&
        `${agent.wire} ${agent.version} on ${agent.hostname} (${agent.address}), connected ${agent.connected_at}`,
    ],
    ['Slots', agent && `${agent.free_slots} free of ${agent.slots}`],
    ['Sessions', worker.sessions.join(', ')],
    ['Drains', worker.drain && `since ${worker.drain.at}: ${worker.drain.why}`],
    ['Goes', worker.removal && `since ${worker.removal.at}: ${worker.removal.why}`],
  ]);
}

export function workerCommand(cli: Cli): Command {
  const worker = new Command('worker').alias('workers').description('machines and their agents');

  worker.addCommand(
    showing('ls', 'list workers')
      .alias('list')
      .option('-p, --pool <name>', 'only of this pool')
      .option('-w, --watch', 'show changes until interrupted')
      .action(async (options: { pool?: string; watch?: boolean }, command: Command) => {
        const client = clientOf(cli, command);
        const draw = async (): Promise<string> => {
          const workers = await client.all<Worker>('/workers', { pool: options.pool });
          return showList(workers, formatOf(command), listing(cli.terminal.clock.now()));
        };
        if (!options.watch) return print(cli.terminal, await draw());
        await watchPicture(cli.terminal, draw, { everyMs: 500, signal: cli.signal });
      }),
  );
  worker.addCommand(
    showing('show', 'show one worker')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        const found = await clientOf(cli, command).call<Worker>(path(name));
        print(
          cli.terminal,
          show(found, formatOf(command), () => workerFacts(found)),
        );
      }),
  );
  worker.addCommand(
    new Command('drain')
      .description('give it no new sessions, and remove it when its last one has ended')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        await clientOf(cli, command).call(`${path(name)}/drain`, { method: 'POST' });
        print(cli.terminal, `Worker ${name} drains.`);
      }),
  );
  return worker;
}
