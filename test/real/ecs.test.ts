// Two referees of what Muster says to ECS: Amazon's client for Python on our simulation, and moto as an ECS that others wrote.
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemClock } from '#core/clock.ts';
import type { Launch } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { openEcs } from '../../src/providers/aws/ecs/backend.ts';
import { EcsConfig } from '../../src/providers/aws/ecs/config.ts';
import { openFakeAws } from '../../src/providers/aws/fake/fake-aws.ts';
import { SEED_DATA } from '../../src/providers/aws/fake/seed-data.ts';
import { serve } from '../../src/providers/aws/fake/serve.ts';
import { openWorld } from '../system/harness/world.ts';
import { openAws, REGION } from './parts/aws.ts';
import { makeOurs, OUR_MARK, OUR_NAME, realContext } from './parts/made-by-muster.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-ecs.py');
const IMAGE = 'registry.example/team/muster-agent:1.2.0';
const ACCOUNT = { AWS_ACCESS_KEY_ID: 'simulated', AWS_SECRET_ACCESS_KEY: 'simulated', AWS_REGION: REGION };
const going = (): AbortSignal => new AbortController().signal;

test("Amazon's client for Python registers, runs, pages and stops tasks of the simulated ECS, and reads one of Muster", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const fake = openFakeAws({ clock: systemClock, random: systemRandom, behaviour: { bootMs: 300, terminateMs: 200 } });
  const served = await serve(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  for (const [name, value] of Object.entries(ACCOUNT)) vi.stubEnv(name, value);
  context.onTestFinished(() => void vi.unstubAllEnvs());
  const subnet = SEED_DATA.subnets[0];
  const config = {
    region: REGION,
    image: IMAGE,
    subnets: [subnet],
    vcpus: 0.5,
    memoryMib: 1_024,
    endpoint: served.address,
  };
  await makeOurs(await openEcs(EcsConfig.parse({ ...config, env: { HF_HOME: '/models' } }), realContext()));

  const more = { AWS_ENDPOINT_URL: served.address, AWS_DEFAULT_REGION: REGION, AWS_EC2_METADATA_DISABLED: 'true' };
  const env = { ...(process.env as Record<string, string>), ...more, AWS_MAX_ATTEMPTS: '1' };
  const ran = await run(program('python'), [DRIVE, subnet, OUR_NAME], { env });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    revisions: [1, 2],
    started: ['PROVISIONING', 'FARGATE', [{ key: 'from', value: 'referee' }]],
    sameToken: [true, 'ConflictException'],
    pages: [1, 1],
    refused: {
      cluster: 'ClusterNotFoundException',
      subnet: 'InvalidParameterException',
      definition: 'ClientException',
      size: 'ClientException',
      listing: 'InvalidParameterException',
      task: 'InvalidParameterException',
    },
    ours: {
      tags: ['Name', 'muster:cluster', 'muster:launch', 'muster:name', 'muster:pool', 'muster:shape'],
      startedBy: `muster/${OUR_MARK.cluster}`,
      size: ['512', '1024'],
      container: ['agent', IMAGE, true, 30],
      init: true,
      variables: ['MUSTER_AGENT_CONFIG'],
      definition: [{ name: 'HF_HOME', value: '/models' }],
    },
    stopped: ['UserInitiated', 'The referee has seen enough.', []],
    tooEarly: 'TASK_DEFINITION_ACTIVE',
    inactive: [0, 2, 'InvalidParameterException'],
    left: [0, 0, 0],
  });
});

// Not its state: each look moves that on, and no task of moto runs for long.
const SHOWN = 'tasks[].{by: startedBy, tags: tags[].key}';

test('tasks of Muster run and stop on moto, which shows them to the AWS CLI, and no task definition stays', async (context) => {
  const programs = needed(context, await pythonPrograms());
  const cloud = await openAws(openWorld(context), programs);
  const { aws, address } = cloud;
  for (const [name, value] of Object.entries({
    ...ACCOUNT,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
  }))
    vi.stubEnv(name, value);
  context.onTestFinished(() => void vi.unstubAllEnvs());
  await aws('ecs', 'create-cluster', '--cluster-name', 'default');
  const subnet = await aws<string>('ec2', 'describe-subnets', '--query', 'Subnets[0].SubnetId');
  const group = await aws<string>('ec2', 'describe-security-groups', '--query', 'SecurityGroups[0].GroupId');
  // It fails without a security group, and ignores the token of a call.
  const config = { region: REGION, image: IMAGE, subnets: [subnet], securityGroups: [group], endpoint: address };
  const backend = await openEcs(EcsConfig.parse(config), realContext());
  const names = ['m-ecs-p1234567-0000000001', 'm-ecs-p1234567-0000000002'];
  const boot = { agentConfig: 'pool: ecs\n', token: 'mlt_x' };
  const launch: Launch = { id: 'launch2', mark: OUR_MARK, names, boot, askedAt: 0 };

  const outcomes = await backend.create(launch, going());
  const machines = await until('both are listed', async () => {
    const listed = await backend.list(going());
    return listed.length === 2 && listed;
  });
  const arns = machines.map(({ id = '' }) => id);
  const shown = await aws<object[]>('ecs', 'describe-tasks', '--tasks', ...arns, '--include', 'TAGS', '--query', SHOWN);
  const definitions = () => aws<string[]>('ecs', 'list-task-definitions', '--query', 'taskDefinitionArns');
  const deleted = await backend.delete(machines, going());
  await until('none is listed', async () => (await backend.list(going())).length === 0);

  expect(outcomes.map(({ name, fault }) => [name, fault])).toEqual(names.map((name) => [name, undefined]));
  expect(machines.map(({ name, mark }) => [name, mark]).toSorted()).toEqual(names.map((name) => [name, OUR_MARK]));
  const tags = expect.arrayContaining(['muster:cluster', 'muster:name', 'muster:pool', 'muster:shape']);
  expect(shown).toEqual(Array(2).fill({ by: `muster/${OUR_MARK.cluster}`, tags }));
  expect(deleted).toEqual(expect.arrayContaining(names.map((name) => ({ name }))));
  // It lists those that have stopped too.
  const ended = await aws<string[]>('ecs', 'describe-tasks', '--tasks', ...arns, '--query', 'tasks[].desiredStatus');
  expect(ended).toEqual(['STOPPED', 'STOPPED']);
  expect(await definitions()).toEqual([]);
});
