import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { NewToken, Token } from '../api/wire/token.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { type Listing, show, showList } from './show.ts';
import { print } from './terminal.ts';

const listing: Listing<Token> = {
  nothing: 'No tokens.',
  columns: [
    { title: 'ID', value: (token) => token.id },
    { title: 'NAME', value: (token) => token.name },
    { title: 'FOR', value: (token) => token.role ?? `joining ${token.join}` },
    { title: 'CREATED', value: (token) => token.created_at },
    { title: 'EXPIRES', value: (token) => (token.expired ? 'expired' : token.expires_at) },
  ],
};

interface CreateOptions {
  readonly role?: string;
  readonly join?: string;
  readonly name?: string;
  readonly expires?: string;
}

export function tokenCommand(cli: Cli): Command {
  const token = new Command('token').alias('tokens').description('who may use the API, and which agents may join');

  token.addCommand(
    showing('create', 'make a token; it is shown this once')
      .option('-r, --role <role>', 'viewer, operator or admin')
      .option('-j, --join <pool>', 'let agents join this pool')
      .option('-n, --name <name>', 'what it is for')
      .option('--expires <duration>', 'good for this long, for example 720h')
      .action(async (options: CreateOptions, command: Command) => {
        if ((options.role === undefined) === (options.join === undefined)) {
          throw new Fault('invalid', 'A token is for a role or for joining a pool.', {
            remedy: 'Give either --role or --join.',
          });
        }
        const body = {
          name: options.name ?? options.role ?? `join ${options.join}`,
          ...(options.role === undefined ? { join: options.join } : { role: options.role }),
          ...(options.expires === undefined ? {} : { expires_in: options.expires }),
        };
        const made = await clientOf(cli, command).call<NewToken>('/tokens', { method: 'POST', body });
        print(
          cli.terminal,
          show(made, formatOf(command), () => made.token),
        );
      }),
  );
  token.addCommand(
    showing('ls', 'list tokens')
      .alias('list')
      .action(async (_options, command: Command) => {
        print(cli.terminal, showList(await clientOf(cli, command).all<Token>('/tokens'), formatOf(command), listing));
      }),
  );
  token.addCommand(
    new Command('revoke')
      .alias('rm')
      .description('make a token worthless')
      .argument('<id>')
      .action(async (id: string, _options, command: Command) => {
        await clientOf(cli, command).call(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
        print(cli.terminal, `Token ${id} is worthless now.`);
      }),
  );
  return token;
}
