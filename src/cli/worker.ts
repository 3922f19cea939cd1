import { type Command, Option } from 'commander';
import { WORKER_PHASES } from '#core/worker.ts';
import type { Worker } from '../api/wire/worker.ts';
import type { Cli, CliCommand } from './command.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { ageOf, moment, type TableLayout } from './show.ts';
import { oneLine, pairsLine, renderFacts } from './table.ts';

const path = (name: string): string => `/workers/${encodeURIComponent(name)}`;

const slotsOf = ({ agent }: Worker): string | undefined => agent && `${agent.free_slots}/${agent.slots}`;

const listing = (nowMs: number): TableLayout<Worker> => ({
  nothing: 'No workers.',
  columns: [
    { title: 'NAME', value: (worker) => oneLine(worker.name) },
    { title: 'POOL', value: (worker) => worker.pool },
    { title: 'PHASE', value: (worker) => worker.phase },
    { title: 'FREE SLOTS', value: slotsOf, align: 'right' },
    { title: 'SESSIONS', value: (worker) => worker.sessions.length, align: 'right' },
    { title: 'AGE', value: (worker) => ageOf(worker.asked_at, nowMs), align: 'right' },
    { title: 'WHY', value: (worker) => oneLine(worker.removal?.why ?? worker.drain?.why ?? worker.waits ?? '') },
  ],
});

function workerFacts(worker: Worker): string {
  const { agent, drain, removal, joined_at: joinedAt, unknown_sessions: unknown } = worker;
  return renderFacts([
    ['Name', oneLine(worker.name)],
    ['Pool', worker.pool],
    ['Phase', worker.phase],
    ['Backend', worker.backend ?? 'none: its agent joined by itself'],
    ['Machine', worker.machine && oneLine(worker.machine)],
    ['Requested', moment(worker.asked_at)],
    ['Joined', joinedAt && moment(joinedAt)],
    ['Agent', agent && oneLine(`${agent.wire} ${agent.version} on ${agent.hostname} (${agent.address})`)],
    ['Connected', agent && moment(agent.connected_at)],
    ['Slots', agent && `${agent.free_slots} free of ${agent.slots}`],
    ['Labels', agent && pairsLine(agent.labels)],
    ['Sessions', worker.sessions.join(', ')],
    ['Unknown', unknown && oneLine(`${unknown.join(', ')}; not killed, they keep their slots until they end`)],
    ['Waits', worker.waits && oneLine(worker.waits)],
    ['Drains', drain && oneLine(`since ${moment(drain.at)}: ${drain.why}`)],
    ['Goes', removal && oneLine(`since ${moment(removal.at)}: ${removal.why}`)],
  ]);
}

function workerCommand(cli: Cli): Command {
  return nounCommand('worker', 'machines and their agents', [
    listCommand<Worker, { pool?: string; phase?: string }>(cli, {
      summary: 'list workers',
      isLively: true,
      read: (client, { pool, phase }) => client.list('/workers', { pool, phase }),
      listing,
    })
      .option('-p, --pool <name>', 'only workers of this pool')
      .addOption(new Option('--phase <phase>', 'only workers in this phase').choices(WORKER_PHASES)),
    showCommand<Worker>(cli, {
      name: 'show',
      summary: 'show one worker',
      of: '<name>',
      read: (client, name) => client.call(path(name)),
      text: workerFacts,
    }),
    actCommand(cli, {
      name: 'drain',
      summary: 'drain a worker: it takes no new sessions and is removed when its last one has ended',
      of: '<name>',
      async act(client, name) {
        await client.call(`${path(name)}/drain`, { method: 'POST' });
        return `Draining worker ${name}.`;
      },
    }),
    actCommand(cli, {
      name: 'release',
      summary: 'take back the drain of a worker whose agent joined by itself and speaks the Velda protocol',
      of: '<name>',
      async act(client, name) {
        await client.call(`${path(name)}/release`, { method: 'POST' });
        return `Released worker ${name}. Its agent joins at its next attempt, within two minutes.`;
      },
    }),
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'worker', order: 60, make: workerCommand }];
