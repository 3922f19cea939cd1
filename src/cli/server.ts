import { Command } from 'commander';
import { DEFAULT_DATA_DIR } from '#core/defaults.ts';
import { Fault } from '#core/fault.ts';
import type { ServerStatus } from '../api/wire/server.ts';
import type { LoginLink } from '../api/wire/token.ts';
import { type Cli, type CliCommand, clientOf, formatOf, type Local, showing } from './command.ts';
import { show } from './show.ts';
import { oneLine, renderFacts } from './table.ts';
import { print, remark } from './terminal.ts';
import { refuseUnknownCommand } from './unknown-command.ts';

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

function statusCommand(cli: Cli): Command {
  return showing('status', 'show the status of the server').action(async (_options, command: Command) => {
    const status = await clientOf(cli, command).call<ServerStatus>('/server');
    print(
      cli.terminal,
      show(status, formatOf(command), () => statusFacts(status)),
    );
  });
}

/** What this command is; and the server, where one can be asked. */
function versionCommand(cli: Cli): Command {
  return showing('version', 'show the version of this command and of the server').action(
    async (_options, command: Command) => {
      const client = (command.parent as Command).version() ?? '';
      const asked = async () => (await clientOf(cli, command).call<ServerStatus>('/server')).version;
      const found = await asked().then(
        (server) => ({ server }),
        (thrown) => ({ why_no_server: Fault.from(thrown).message }),
      );
      const text = () =>
        renderFacts([
          ['Command', client],
          ['Server', 'server' in found ? found.server : `none: ${found.why_no_server}`],
        ]);
      print(cli.terminal, show({ command: client, ...found }, formatOf(command), text));
    },
  );
}

function serverCommand(cli: Cli, local: Local): Command {
  const server = new Command('server')
    .description('run the control plane')
    .option('-c, --config <file>', 'configuration file')
    .option('--keep-agents', 'leave idle local agents running when stopped')
    .allowExcessArguments()
    .action((options: { config?: string; keepAgents?: boolean }, command: Command) => {
      const [unknown] = command.args;
      if (unknown !== undefined) refuseUnknownCommand(command, unknown);
      return local.server(options);
    });

  server.addCommand(statusCommand(cli));
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
    .option('--open', 'open the link in the browser of this machine instead')
    .action(async ({ open }: { open?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const link = await client.call<LoginLink>('/login-links', { method: 'POST' });
      const address = new URL(link.path, client.place.address);
      if (open && (await cli.openBrowser(address.href)))
        return print(cli.terminal, `The dashboard at ${address.origin} opens in the browser.`);
      if (open) remark(cli.terminal, 'No browser could be opened on this machine. Open this link yourself:');
      print(cli.terminal, address.href);
    });
}

export const commands: readonly CliCommand[] = [
  { name: 'status', order: 119, make: statusCommand },
  { name: 'login', order: 120, make: loginCommand },
  { name: 'server', order: 130, make: serverCommand },
  { name: 'restore', order: 170, make: restoreCommand },
  { name: 'version', order: 195, make: versionCommand },
];
