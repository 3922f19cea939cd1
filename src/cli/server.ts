import { Command } from 'commander';
import { DEFAULT_DATA_DIR } from '#core/defaults.ts';
import type { ServerStatus } from '../api/wire/server.ts';
import type { LoginLink } from '../api/wire/token.ts';
import { type Cli, type CliCommand, clientOf, formatOf, type Local, showing } from './command.ts';
import { show } from './show.ts';
import { oneLine, renderFacts } from './table.ts';
import { print } from './terminal.ts';

function statusFacts(status: ServerStatus): string {
  const { counts } = status;
  const tally = (of: Readonly<Record<string, number | undefined>>): string =>
    Object.entries(of)
      .filter(([, count]) => count)
      .map(([phase, count]) => `${count} ${phase}`)
      .join(', ') || 'none';
  return renderFacts([
    ['Version', status.version],
    ['Process', status.pid],
    ['Ready', status.ready ? 'yes' : `no: ${status.why_not_ready}`],
    ['Up', status.uptime],
    [
      'Addresses',
      Object.entries(status.addresses)
        .map(([use, address]) => `${use} ${address}`)
        .join(', '),
    ],
    ['Store', `${status.store}, epoch ${status.epoch}`],
    ['Cluster', status.cluster],
    ['Frozen', status.frozen && oneLine(`since ${status.frozen.at}: ${status.frozen.why}`)],
    ['Pools', counts.pools],
    ['Workers', tally(counts.workers)],
    ['Sessions', tally(counts.sessions)],
  ]);
}

/** As Commander says it itself, with what was meant; but it does so only where the command above does nothing alone. */
function refuseUnknown(command: Command): void {
  if (command.args.length > 0) (command as Command & { unknownCommand(): never }).unknownCommand();
}

function serverCommand(cli: Cli, local: Local): Command {
  const server = new Command('server')
    .description('run the control plane')
    .option('-c, --config <file>', 'configuration file')
    .option('--keep-agents', 'leave idle local agents running when stopped')
    .allowExcessArguments()
    .action((options: { config?: string; keepAgents?: boolean }, command: Command) => {
      refuseUnknown(command);
      return local.server(options);
    });

  server.addCommand(
    showing('status', 'show the status of the server').action(async (_options, command: Command) => {
      const status = await clientOf(cli, command).call<ServerStatus>('/server');
      print(
        cli.terminal,
        show(status, formatOf(command), () => statusFacts(status)),
      );
    }),
  );
  return server;
}

function restoreCommand(cli: Cli, local: Local): Command {
  return new Command('restore')
    .description('restore a backup into an empty store; the next start adopts machines that still run')
    .argument('<file>')
    .option('--store <place>', 'a directory or a postgres:// address', DEFAULT_DATA_DIR)
    .action(async (file: string, options: { store: string }) => {
      await local.restore(file, options.store);
      print(cli.terminal, `Restored from ${file}. Start the server now.`);
    });
}

function loginCommand(cli: Cli): Command {
  return new Command('login')
    .description('print a one-time link that logs a browser in')
    .action(async (_options, command: Command) => {
      const client = clientOf(cli, command);
      const link = await client.call<LoginLink>('/login-links', { method: 'POST' });
      print(cli.terminal, new URL(link.path, client.place.address).href);
    });
}

export const commands: readonly CliCommand[] = [
  { name: 'login', order: 120, make: loginCommand },
  { name: 'server', order: 130, make: serverCommand },
  { name: 'restore', order: 170, make: restoreCommand },
];
