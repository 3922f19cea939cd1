import { type Command, Option } from 'commander';
import { ROLES } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { NewToken, Token } from '../api/wire/token.ts';
import { certificateCommand } from './certificate.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { actCommand, listCommand, nounCommand } from './noun.ts';
import { span } from './option.ts';
import { moment, show, type TableLayout } from './show.ts';
import { oneLine } from './table.ts';
import { print } from './terminal.ts';

const listing: TableLayout<Token> = {
  nothing: 'No tokens.',
  columns: [
    { title: 'ID', value: (token) => token.id },
    { title: 'NAME', value: (token) => oneLine(token.name) },
    { title: 'FOR', value: (token) => token.role ?? `joining ${token.join}` },
    { title: 'CREATED', value: (token) => moment(token.created_at) },
    { title: 'EXPIRES', value: ({ expired, expires_at: at }) => (expired ? 'expired' : at && moment(at)) },
  ],
};

interface CreateOptions {
  readonly role?: string;
  readonly join?: string;
  readonly name?: string;
  readonly expires?: string;
}

function bodyOf({ role, join, name, expires }: CreateOptions): object {
  if ((role === undefined) === (join === undefined)) {
    throw new Fault('invalid', 'A token needs a role or a pool to join.', {
      remedy: 'Give either --role or --join.',
    });
  }
  return {
    name: name ?? role ?? `join ${join}`,
    ...(role === undefined ? { join } : { role }),
    ...(expires !== undefined && { expires_in: expires }),
  };
}

function createCommand(cli: Cli): Command {
  return showing('create', 'create a token; its text is shown only once')
    .addOption(new Option('-r, --role <role>', 'create an API token with this role').choices(ROLES))
    .option('-j, --join <pool>', 'create a join token for agents of this pool')
    .option('-n, --name <name>', 'name of the token')
    .option(
      '--expires <duration>',
      'lifetime, for example 720h (default: never expires)',
      span('--expires', { mayBeZero: true }),
    )
    .action(async (options: CreateOptions, command: Command) => {
      const call = { method: 'POST', body: bodyOf(options) } as const;
      const made = await clientOf(cli, command).call<NewToken>('/tokens', call);
      print(
        cli.terminal,
        show(made, formatOf(command), () => made.token),
      );
    });
}

function tokenCommand(cli: Cli): Command {
  const token = nounCommand('token', 'tokens for the API and for agents', [
    createCommand(cli),
    listCommand<Token>(cli, {
      summary: 'list tokens, without their texts',
      read: (client) => client.list('/tokens'),
      listing: () => listing,
    }),
    actCommand(cli, {
      name: 'revoke',
      summary: 'revoke a token',
      of: '<id>',
      async act(client, id) {
        await client.call(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
        return `Token ${id} revoked.`;
      },
    }).alias('rm'),
    certificateCommand(cli),
  ]);
  return withExamples(token, [
    ['muster token create --role viewer --name grafana', 'read only'],
    ['muster token create --role operator --expires 8h', 'valid for eight hours'],
    ['muster token create --join edge', 'lets agents join the pool edge'],
    ['muster token revoke ID', 'revokes a token'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'token', order: 110, make: tokenCommand }];
