import { Command, Option } from 'commander';
import { Fault } from '#core/fault.ts';
import { RUNTIME_PHASES } from '#core/runtime.ts';
import type { DecisionList } from '../api/wire/decision.ts';
import type { HostMove, Rendered, Runtime, RuntimeHost } from '../api/wire/runtime.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { followProgress, unlessMissing } from './follow-progress.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { named, pair, span, whole } from './option.ts';
import { decisionsText } from './pool-text.ts';
import { hostListing, movesText, runtimeFacts, runtimeLine, runtimeListing } from './runtime-text.ts';
import { show } from './show.ts';
import { print } from './terminal.ts';

const path = (id: string): string => `/runtimes/${encodeURIComponent(id)}`;
const hostPath = (host: string): string => `/runtime-hosts/${encodeURIComponent(host)}`;
const slotsOption = '-s, --slots <count>';

interface Asked {
  readonly slots: number;
  readonly provisioner?: string;
  readonly version?: string;
  readonly environment?: string;
  readonly annotation?: Readonly<Record<string, string>>;
  readonly diskGb?: number;
}

const bodyOf = ({ slots, provisioner, version, environment, annotation: annotations, diskGb }: Asked) => ({
  slots,
  provisioner,
  version,
  environment,
  annotations,
  disk_gb: diskGb,
});

const environmentOption = (): Option => new Option('--environment <name>', 'what it is for').choices(['prod', 'dev']);
const diskCount = whole('--disk-gb', 1);

const asking = (command: Command): Command =>
  command
    .requiredOption(slotsOption, 'slots of the runtime', whole('--slots', 1))
    .option('--version <version>', 'pin this version (default: the newest that the server knows)', named('--version'))
    .addOption(environmentOption())
    .option('--annotation <name=value>', 'value for the templates; may be repeated', pair('--annotation'))
    .option('--disk-gb <count>', 'storage in GiB, in place of that of the slots', diskCount);

const SETTLED: readonly string[] = ['ready', 'hibernated', 'error'];

const follow = (cli: Cli, client: Client, id: string, timeout?: string): Promise<Runtime | undefined> =>
  followProgress<Runtime>(cli, client, {
    path: path(id),
    lineOf: runtimeLine,
    isSettled: ({ phase }) => SETTLED.includes(phase),
    timeout,
  });

/** Ends the command with an error where the runtime is in error or did not get there in time. */
function exitLike(cli: Cli, runtime: Runtime | undefined): void {
  if (runtime && runtime.phase !== 'ready' && runtime.phase !== 'hibernated') cli.exitWith(1);
}

function createCommand(cli: Cli): Command {
  const command = asking(new Command('create').description('request a runtime for a deployment'))
    .argument('<id>', 'a DNS label that names the runtime', named('<id>'))
    .option('--provisioner <name>', 'name in the set (default: the default of the set)', named('--provisioner'))
    .option('--wait', 'wait until it is ready')
    .action(async (id: string, options: Asked & { wait?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const made = await client.call<Runtime>('/runtimes', { method: 'POST', body: { id, ...bodyOf(options) } });
      if (options.wait) return exitLike(cli, await follow(cli, client, id));
      print(cli.terminal, runtimeLine(made));
    });
  return withExamples(command, [
    ['muster runtime create my-project --slots 4', 'from the default provisioner'],
    ['muster runtime create my-project --slots 4 --annotation org=acme --wait', 'and wait until it is ready'],
  ]);
}

function renderCommand(cli: Cli): Command {
  return asking(showing('render', 'print the objects of a runtime as they would be applied; nothing is applied'))
    .argument('<provisioner>', 'name in the set', named('<provisioner>'))
    .option('--id <id>', 'id of the runtime (default: example)', named('--id'))
    .action(async (provisioner: string, options: Asked & { id?: string }, command: Command) => {
      const body = { id: options.id, ...bodyOf(options), provisioner };
      const rendered = await clientOf(cli, command).call<Rendered>('/runtime-renders', { method: 'POST', body });
      const text = (): string => rendered.manifests.map((manifest) => `---\n${manifest.text.trimEnd()}`).join('\n');
      print(cli.terminal, show(rendered, formatOf(command), text));
    });
}

function waitCommand(cli: Cli): Command {
  return new Command('wait')
    .description('wait until a runtime is settled: ready, hibernated, in error or gone')
    .argument('<id>', undefined, named('<id>'))
    .option('--timeout <duration>', 'longest time to wait (default: 1h)', span('--timeout'))
    .action(async (id: string, { timeout }: { timeout?: string }, command: Command) => {
      exitLike(cli, await follow(cli, clientOf(cli, command), id, timeout));
    });
}

function changeCommands(cli: Cli): Command[] {
  return [
    actCommand<{ slots: number; move?: boolean }>(cli, {
      name: 'resize',
      summary: 'change the slots of a runtime',
      of: '<id>',
      act: async (client, id, { slots, move = false }) =>
        runtimeLine(await client.call<Runtime>(path(id), { method: 'PUT', body: { slots, move } })),
    })
      .requiredOption(slotsOption, 'slots of the runtime', whole('--slots', 1))
      .option('--move', 'move a static runtime that does not fit on its host to another, without its data'),
    actCommand<{ version?: string }>(cli, {
      name: 'pin',
      summary: 'pin a runtime to a version, or unpin it',
      of: '<id>',
      act: async (client, id, { version }) =>
        runtimeLine(await client.call<Runtime>(path(id), { method: 'PUT', body: { version: version ?? null } })),
    }).option('--version <version>', 'the version (default: no longer pinned)', named('--version')),
    setCommand(cli),
    ...(['hibernate', 'wake', 'check'] as const).map((verb) =>
      actCommand(cli, {
        name: verb,
        summary: SUMMARIES[verb],
        of: '<id>',
        act: async (client, id) => runtimeLine(await client.call<Runtime>(`${path(id)}/${verb}`, { method: 'POST' })),
      }),
    ),
    removeCommand(cli),
  ];
}

interface Changed {
  readonly environment?: string;
  readonly annotation?: Readonly<Record<string, string>>;
  readonly unannotate?: readonly string[];
  readonly diskGb?: number;
}

function setCommand(cli: Cli): Command {
  const command = actCommand<Changed>(cli, {
    name: 'set',
    summary: 'change annotations, environment or storage of a runtime; the rest stays',
    of: '<id>',
    async act(client, id, { environment, annotation, unannotate = [], diskGb }) {
      const removed = Object.fromEntries(unannotate.map((name) => [name, null]));
      const annotations = annotation || unannotate.length > 0 ? { ...removed, ...annotation } : undefined;
      const body = { environment, annotations, disk_gb: diskGb };
      if (Object.values(body).every((value) => value === undefined)) {
        const remedy = 'Give --annotation, --unannotate, --environment or --disk-gb.';
        throw new Fault('invalid', 'Nothing is to be changed.', { remedy });
      }
      return runtimeLine(await client.call<Runtime>(path(id), { method: 'PUT', body }));
    },
  })
    .option('--annotation <name=value>', 'value for the templates; may be repeated', pair('--annotation'))
    .option('--unannotate <name...>', 'annotations that the runtime no longer has')
    .addOption(environmentOption())
    .option('--disk-gb <count>', 'storage in GiB, in place of that of the slots; it can only grow', diskCount);
  return withExamples(command, [
    ['muster runtime set my-project --annotation plan=pro', 'the templates render with the new plan'],
  ]);
}

function removeCommand(cli: Cli): Command {
  return new Command('rm')
    .description('remove a runtime and its data')
    .argument('<id>', undefined, named('<id>'))
    .option('--wait', 'wait until nothing of it exists')
    .action(async (id: string, { wait }: { wait?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const { runtime } = await client.call<{ runtime?: Runtime }>(path(id), { method: 'DELETE' });
      if (runtime && !wait) return print(cli.terminal, runtimeLine(runtime));
      // It may be gone before the question arrives.
      if (runtime) await follow(cli, client, id).catch(unlessMissing);
      const left = runtime && (await client.call<Runtime>(path(id)).catch(unlessMissing));
      if (!left) return print(cli.terminal, `Runtime ${id} is gone.`);
      cli.exitWith(1);
    });
}

const SUMMARIES = {
  hibernate: 'stop a runtime and keep its data',
  wake: 'start a hibernated runtime again',
  check: 'check a runtime now, and repair what differs',
};

function hostCommand(cli: Cli): Command {
  return nounCommand('host', 'hosts of static provisioners', [
    listCommand<RuntimeHost>(cli, {
      summary: 'list hosts: slots, used, what lives there',
      read: (client) => client.list('/runtime-hosts'),
      listing: hostListing,
    }),
    actCommand<{ move?: boolean }>(cli, {
      name: 'drain',
      summary: 'place no new runtimes on a host, and show where its runtimes would move',
      of: '<host>',
      async act(client, host, { move = false }) {
        const call = { method: 'POST', body: { move } } as const;
        const { items } = await client.call<{ items: HostMove[] }>(`${hostPath(host)}/drain`, call);
        return movesText(host, items, move);
      },
    }).option('--move', 'move its runtimes to other hosts now, without their data'),
    actCommand(cli, {
      name: 'release',
      summary: 'end the drain of a host',
      of: '<host>',
      async act(client, host) {
        await client.call(`${hostPath(host)}/release`, { method: 'POST' });
        return `Host ${host} takes runtimes again.`;
      },
    }),
  ]);
}

function runtimeCommand(cli: Cli): Command {
  return nounCommand('runtime', 'runtimes for deployments', [
    listCommand<Runtime, { phase?: string }>(cli, {
      summary: 'list runtimes',
      isLively: true,
      read: (client, { phase }) => client.list('/runtimes', { phase }),
      listing: runtimeListing,
    }).addOption(new Option('--phase <phase>', 'only runtimes in this phase').choices(RUNTIME_PHASES)),
    showCommand<Runtime>(cli, {
      name: 'show',
      summary: 'show one runtime',
      of: '<id>',
      read: (client, id) => client.call(path(id)),
      text: runtimeFacts,
    }),
    createCommand(cli),
    waitCommand(cli),
    showCommand<DecisionList['items'], { limit: number }>(cli, {
      name: 'why',
      summary: 'explain the last decisions about a runtime, newest first',
      of: '<id>',
      async read(client, id, { limit }) {
        await client.call(path(id));
        const { items } = await client.call<DecisionList>('/decisions', { query: { subject: `runtime/${id}`, limit } });
        return items;
      },
      text: decisionsText,
    }).option('-n, --limit <count>', 'number of decisions', whole('--limit', 1, 200), 10),
    ...changeCommands(cli),
    renderCommand(cli),
    hostCommand(cli),
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'runtime', order: 65, make: runtimeCommand }];
