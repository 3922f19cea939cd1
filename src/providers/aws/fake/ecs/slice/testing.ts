// How the slice gets at the fake ECS: tasks on Fargate; its documents are kept in memory.
import { DescribeNetworkInterfacesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient, ListTasksCommand, RegisterTaskDefinitionCommand, RunTaskCommand } from '@aws-sdk/client-ecs';
import { MINUTE_MS } from '#core/clock.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { noLimits } from '#fakes/limits.ts';
import { nextStepMs } from '#fakes/timeline.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../../conformance/slice-world.ts';
import { requestHandler } from '../../../http.ts';
import aws from '../../../index.ts';
import { markOf } from '../../../marks.ts';
import { type FakeAws, openFakeAws } from '../../fake-aws.ts';
import { publishedLimits } from '../../limits.ts';
import { SEED_DATA } from '../../seed-data.ts';
import type { AwsCall } from '../../wire/read-call.ts';
import { endTask, statusAt, stopAt, type Task } from '../task.ts';
import { purge } from '../task-definition.ts';

export const REGION = 'us-west-2';
export const IMAGE = 'registry.example/muster-agent:1.2.0';
const STOP_MS = 3_000;

const fileOf = ({ environment }: Task): string => environment.get('MUSTER_AGENT_CONFIG') ?? '';

function machineOf(task: Task, fake: FakeAws, marked: WeakMap<Task, ReadonlyMap<string, string>>): SliceMachine {
  // ECS takes the tags away at the end of a task; the suite wants to know whose it was.
  const tags = marked.get(task) ?? new Map(task.tags.map(({ key, value = '' }) => [key, value]));
  marked.set(task, tags);
  return {
    id: task.arn,
    name: tags.get('muster:name') ?? '',
    mark: markOf(tags),
    state(nowMs) {
      const status = statusAt(task, nowMs);
      if (status === 'STOPPED' || status === 'DEPROVISIONING') return 'gone';
      return ['RUNNING', 'STOPPING'].includes(status) ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(task.timeline, nowMs),
    scripts: () => [fileOf(task)],
    exists: (nowMs) => !stopAt(task, nowMs),
    // An agent that came to its end leaves with success, and its task stops.
    poweredOff: () =>
      endTask(fake.world, task, {
        code: 'EssentialContainerExited',
        reason: 'Essential container in task exited',
        exitCode: 0,
      }),
  };
}

/** Tasks that others start in the cluster, some with a part of our mark. */
async function addForeign(fake: FakeAws, cluster: string): Promise<string[]> {
  const ecs = new ECSClient({ region: REGION, requestHandler: requestHandler(fake.fetch) });
  const family = `muster-${cluster}-of-others`;
  await ecs.send(
    new RegisterTaskDefinitionCommand({
      ...{ family, cpu: '256', memory: '512', networkMode: 'awsvpc', requiresCompatibilities: ['FARGATE'] },
      containerDefinitions: [{ name: 'web', image: 'nginx' }],
    }),
  );
  const most = { 'muster:pool': 'p', 'muster:shape': 's', 'muster:name': 'gpu-pool-x' };
  const marks: readonly { readonly startedBy?: string; readonly tags: Readonly<Record<string, string>> }[] = [
    { tags: {} },
    { tags: most, startedBy: `muster/${cluster}` },
    { tags: { ...most, 'muster:cluster': 'cluster9' }, startedBy: `muster/${cluster}` },
    { tags: { 'muster:cluster': cluster }, startedBy: `muster/${cluster}` },
    { tags: { ...most, 'muster:cluster': 'cluster9' }, startedBy: 'muster/cluster9' },
  ];
  const started = marks.map(async ({ startedBy, tags }) => {
    const { tasks = [] } = await ecs.send(
      new RunTaskCommand({
        taskDefinition: family,
        launchType: 'FARGATE',
        startedBy,
        tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
        networkConfiguration: { awsvpcConfiguration: { subnets: [SEED_DATA.subnets[0]] } },
      }),
    );
    return tasks[0]?.taskArn ?? '';
  });
  return Promise.all(started);
}

let loaded: Promise<void> | undefined;

async function load(): Promise<void> {
  await import('../../../ecs/backend.ts');
  const { fetch } = openFakeAws({ clock: new VirtualClock(), random: seededRandom(1) });
  const settings = { region: REGION, requestHandler: requestHandler(fetch) };
  await new ECSClient(settings).send(new ListTasksCommand());
  await new EC2Client(settings).send(new DescribeNetworkInterfacesCommand());
}

/** The fake AWS behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeAws>();

/** All task definitions that the account holds, with their state. */
export function definitionsIn(cloud: object): string[] {
  const fake = fakesOf.get(cloud);
  if (!fake) return [];
  const region = fake.region(REGION);
  purge(region, fake.world.clock.now());
  return [...region.taskDefinitions.values()].map(({ arn, status }) => `task definition ${arn}: ${status}`);
}

const isLaterPage = ({ body }: AwsCall): boolean => body.nextToken !== undefined;

export const ECS_SLICE: SliceSuite = {
  provider: aws,
  backend: {
    kind: 'aws_ecs',
    config: { region: REGION, image: IMAGE, subnets: [SEED_DATA.subnets[0]], security_groups: [SEED_DATA.group] },
  },
  openCloud({ clock, random, isLimited, bootMs, pageSize: largestPage, lagMs: listLagMs }) {
    const limits = isLimited ? publishedLimits : noLimits;
    const behaviour = { bootMs, terminateMs: STOP_MS, largestPage, listLagMs };
    const fake = openFakeAws({ clock, random, limits, behaviour });
    const marked = new WeakMap<Task, ReadonlyMap<string, string>>();
    const cloud = {
      fake,
      machines: () => fake.tasks(REGION).map((task) => machineOf(task, fake, marked)),
      watch: (changed: (machine: SliceMachine) => void) =>
        void fake.watchTasks((task) => changed(machineOf(task, fake, marked))),
      addForeign: (cluster: string) => addForeign(fake, cluster),
      refuseLate: (count: number) => void fake.region(REGION).stock.late.set('fargate', count),
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  load() {
    loaded ??= load();
    return loaded;
  },
  creation: 'RunTask',
  readings: ['DescribeTasks'],
  removals: ['StopTask'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  // Fargate takes 20 calls a second, each of which makes one.
  grownWithinMs: MINUTE_MS,
  mostDocuments: 1_000,
  laterPage: { action: 'ListTasks', when: isLaterPage, what: { kind: 'error', code: 'ServerException', status: 500 } },
  denied: { kind: 'error', code: 'AccessDeniedException' },
  named: REGION,
  forbidden: [
    ['a file', { log_group: 'file:/etc/passwd' }, 'log_group'],
    ['a variable', { tags: { key: `\${AWS_SECRET_ACCESS_KEY}` } }, 'tags.key'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
  ],
  excuses: { boots: 'the image of its containers brings the agent' },
};
