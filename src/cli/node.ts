import type { DecisionList } from '../api/wire/decision.ts';
import type {
  Defragmentation,
  NodeOfPool,
  NodePlan,
  NodePool,
  NodePoolDetail,
  NodePoolList,
  PodObstacles,
} from '../api/wire/node.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { named } from './option.ts';
import { decisionsText } from './pool-text.ts';
import { moment, show, type TableLayout } from './show.ts';
import { oneLine, renderFacts } from './table.ts';
import { print } from './terminal.ts';

const MOST_DECISIONS = 20;

const path = (name: string): string => `/node-provisioners/${encodeURIComponent(name)}`;

const listing = (): TableLayout<NodePool> => ({
  nothing: 'No NodeProvisioners.',
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'NODES', value: ({ nodes }) => nodes, align: 'right' },
    { title: 'TARGET', value: ({ target }) => target, align: 'right' },
    { title: 'STARTING', value: ({ starting_nodes: starting }) => starting, align: 'right' },
    { title: 'IDLE', value: ({ idle_nodes: idle }) => idle, align: 'right' },
    { title: 'GPUS', value: ({ gpus }) => gpus, align: 'right' },
    { title: 'UTIL', value: ({ utilization_percent: percent }) => `${percent}%`, align: 'right' },
    { title: 'PENDING', value: ({ pending_pods: pending }) => pending, align: 'right' },
    { title: 'READY', value: ({ ready, reason }) => (ready ? 'yes' : reason) },
    { title: 'MESSAGE', value: ({ ready, message }) => (ready ? '' : oneLine(message)) },
  ],
});

const nodeLine = ({ name, phase, gpus, gpus_requested: requested, why }: NodeOfPool): string =>
  oneLine(`node ${name}: ${phase}, ${requested} of ${gpus} GPUs. ${why}`);

function detailText({ provisioner, nodes }: NodePoolDetail): string {
  const { groups, ...facts } = provisioner;
  const lines = groups.map(({ name, size, backoff_until: until, last_error: error }) => {
    const waits = until === undefined ? '' : `, not grown before ${moment(until)}: ${error ?? ''}`;
    return oneLine(`group ${name}: size ${size}${waits}`);
  });
  const shown = renderFacts([
    ['Name', facts.name],
    ['Ready', facts.ready ? 'yes' : `${facts.reason}: ${facts.message}`],
    ['Nodes', `${facts.nodes} of ${facts.target} (${facts.starting_nodes} starting, ${facts.idle_nodes} idle)`],
    ['GPUs', `${facts.gpus_requested} of ${facts.gpus} asked for (${facts.utilization_percent} %)`],
    [
      'Unknown machines',
      facts.unknown_machines.length === 0
        ? undefined
        : `${facts.unknown_machines.join(', ')}: not asked for, left alone`,
    ],
    ['Pods', `${facts.pending_pods} waiting, ${facts.unfit_pods} that no node would help`],
  ]);
  return [shown, ...lines, ...nodes.map(nodeLine)].join('\n');
}

function planText({ name, did, why, unless, alternatives }: NodePlan): string {
  const rest = unless === undefined ? '' : `, ${unless}`;
  const others = alternatives.map(({ what, why_not: whyNot }) => `  not: ${what} (${whyNot})`);
  return [oneLine(`${name}: ${why}: ${did}${rest}.`), ...others].join('\n');
}

const some = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const freedLines = ({
  name,
  group = '',
  gpus,
  gpus_requested: used,
  when,
  moves,
}: Defragmentation['nodes'][number]) => [
  oneLine(`node ${name} of ${group}: ${used} of ${gpus} GPUs, ${when}`),
  ...moves.map(({ pod, gpus, to }) => `  ${oneLine(`${pod} (${some(gpus, 'GPU')}) → ${to}`)}`),
];

function defragmentationText({
  name,
  message,
  nodes,
  evictions,
  saved_per_hour: saved,
  kept,
}: Defragmentation): string {
  const worth = saved === undefined || nodes.length === 0 ? '' : `, $${saved.toFixed(2)}/h less`;
  const count = `${some(nodes.length, 'node')} can be emptied by ${some(evictions, 'eviction')}`;
  const head = `${name}: ${count}${worth}. ${message}`;
  const stays = kept.map(({ node, why }) => oneLine(`not ${node}: ${why}`));
  return [oneLine(head), ...nodes.flatMap(freedLines), ...stays].join('\n');
}

async function readPlan(client: Client, name: string, { defrag }: { defrag?: true }) {
  if (!defrag) {
    const found = await client.call<NodePlan>(`${path(name)}/plan`);
    return { found, text: planText(found) };
  }
  const found = await client.call<Defragmentation>(`${path(name)}/defragmentation`);
  return { found, text: defragmentationText(found) };
}

const obstaclesText = ({ pod, verdict, groups }: PodObstacles): string =>
  [`${pod}: ${verdict}`, ...groups.map(({ name, obstacle }) => `  ${name}: ${obstacle}`)].join('\n');

async function readWhy(client: Client, name: string, { pod, node }: { pod?: string; node?: string }) {
  if (pod !== undefined) {
    const [namespace = '', own = ''] = pod.includes('/') ? pod.split('/') : ['default', pod];
    const at = `${path(name)}/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(own)}`;
    const found = await client.call<PodObstacles>(at);
    return { found, text: obstaclesText(found) };
  }
  if (node !== undefined) {
    const { nodes } = await client.call<NodePoolDetail>(path(name));
    const found = nodes.find((one) => one.name === node);
    return { found, text: found ? nodeLine(found) : `${name} has no node ${node}.` };
  }
  const query = { subject: `node-provisioner/${name}`, limit: MOST_DECISIONS };
  const { items } = await client.call<DecisionList>('/decisions', { query });
  return { found: items, text: decisionsText(items) };
}

function planCommand(cli: Cli) {
  return showing('plan', 'show what a NodeProvisioner does next, and why')
    .argument('<name>', undefined, named('<name>'))
    .option('--defrag', 'which nodes can be emptied, and where their pods would go')
    .action(async (name: string, options: { defrag?: true }, command) => {
      const { found, text } = await readPlan(clientOf(cli, command), name, options);
      print(
        cli.terminal,
        show(found, formatOf(command), () => text),
      );
    });
}

function whyCommand(cli: Cli) {
  return showing('why', 'show what a NodeProvisioner decided lately, or why a pod or a node is where it is')
    .argument('<name>', undefined, named('<name>'))
    .option('--pod <namespace/name>', 'why this pod waits', named('--pod'))
    .option('--node <name>', 'what keeps this node, or when it goes', named('--node'))
    .action(async (name: string, options: { pod?: string; node?: string }, command) => {
      const { found, text } = await readWhy(clientOf(cli, command), name, options);
      print(
        cli.terminal,
        show(found, formatOf(command), () => text),
      );
    });
}

const nodeCommand = (cli: Cli) =>
  nounCommand('node', 'GPU node groups that NodeProvisioner objects size', [
    listCommand<NodePool>(cli, {
      summary: 'list NodeProvisioners',
      isLively: true,
      read: async (client) => (await client.call<NodePoolList>('/node-provisioners')).items,
      listing,
    }),
    showCommand<NodePoolDetail>(cli, {
      name: 'show',
      summary: 'show a NodeProvisioner and each of its nodes',
      of: '<name>',
      read: (client, name) => client.call<NodePoolDetail>(path(name)),
      text: detailText,
    }),
    planCommand(cli),
    whyCommand(cli),
    actCommand(cli, {
      name: 'thaw',
      summary: 'take nodes away again although many turned NotReady at once',
      of: '<name>',
      async act(client, name) {
        await client.call(`${path(name)}/thaw`, { method: 'POST' });
        return `Nodes of ${name} that are not ready hold nothing back any more.`;
      },
    }),
  ]);

export const commands: readonly CliCommand[] = [{ name: 'node', order: 67, make: nodeCommand }];
