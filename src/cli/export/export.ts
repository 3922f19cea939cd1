import { Command, Option } from 'commander';
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import { writeYaml } from '#core/yaml-text.ts';
import type { PoolDocument } from '../../api/wire/plan.ts';
import type { Client } from '../client.ts';
import { type Cli, clientOf } from '../command.ts';
import { withExamples } from '../example.ts';
import { print, remark } from '../terminal.ts';
import { renderAgentPool } from './agent-pool.ts';
import { type ExportOptions, leftOutNote, type Render, refusals } from './document.ts';
import { renderGcs, renderSsm, SSM_PREFIX } from './shell.ts';
import { renderTerraform } from './terraform.ts';

const renderYaml: Render = (pool) => `---\n${leftOutNote(pool)}${writeYaml(pool.document)}`;

const FORMATS: Readonly<Record<string, Render>> = {
  yaml: renderYaml,
  ssm: renderSsm,
  gcs: renderGcs,
  terraform: renderTerraform,
  kubernetes: renderAgentPool,
};

// Read there by a source, which trusts their writers less than the operator.
const FOR_SOURCES = new Set(['ssm', 'gcs', 'terraform']);

interface Options extends ExportOptions {
  readonly format: string;
}

async function readPools(client: Client, names: readonly string[]): Promise<PoolDocument[]> {
  if (names.length === 0) return client.list<PoolDocument>('/pool-documents');
  const lists = names.map((name) => client.list<PoolDocument>('/pool-documents', { name }));
  return (await Promise.all(lists)).flat();
}

/** One pool in that format; what cannot be written is a fault. */
function rendered({ document, fault, ...pool }: PoolDocument, options: Options): string {
  if (fault || !document) {
    const { kind, message, remedy } = fault ?? { kind: 'internal', message: `Pool ${pool.name} has no document.` };
    throw new Fault(kind as FaultKind, message, { remedy });
  }
  return (FORMATS[options.format] ?? renderYaml)({ ...pool, document }, options);
}

/** The same, with what is missing printed; one that cannot be written does not stop the others. */
function written(cli: Cli, pool: PoolDocument, options: Options): string | undefined {
  for (const path of pool.left_out) remark(cli.terminal, `${pool.name}: ${path} left out: it is secret`);
  if (FOR_SOURCES.has(options.format)) for (const line of refusals(pool)) remark(cli.terminal, line);
  try {
    return rendered(pool, options);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'unsupported') throw fault;
    remark(cli.terminal, `${fault.message} ${fault.remedy}`);
    cli.exitWith(FAULTS.unsupported.exit);
    return undefined;
  }
}

export function exportCommand(cli: Cli): Command {
  const command = new Command('export')
    .description('write pools as the documents that define them, without their secrets')
    .argument('[names...]', 'pools to export (default: all)')
    .addOption(new Option('-f, --format <format>', 'output format').choices(Object.keys(FORMATS)).default('yaml'))
    .option('--prefix <path>', `ssm, terraform, gcs: prefix of the keys (default: ${SSM_PREFIX} or pools/)`)
    .option('--bucket <name>', 'gcs: the bucket')
    .option('--namespace <name>', 'kubernetes: the namespace of the objects')
    .action(async (names: string[], options: Options, command: Command) => {
      const pools = await readPools(clientOf(cli, command), names);
      const texts = pools.flatMap((pool) => written(cli, pool, options) ?? []);
      if (texts.length > 0) print(cli.terminal, texts.join(options.format === 'terraform' ? '\n' : '').trimEnd());
    });
  return withExamples(command, [
    ['muster pool export > pools.yaml', 'all pools; `muster pool apply pools.yaml` reads them again'],
    ['muster pool export gpu -f terraform', 'as a Terraform resource'],
    ['muster pool export -f ssm | sh', 'copy all pools into Parameter Store'],
  ]);
}
