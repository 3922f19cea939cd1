// How the slice gets at the fake AWS: pools in Parameter Store, machines on EC2.
import { DescribeInstancesCommand, EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { nameAt } from '#core/id.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { noLimits } from '#fakes/limits.ts';
import type { Place, SliceDocuments, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../conformance/slice-world.ts';
import { requestHandler } from '../../http.ts';
import aws from '../../index.ts';
import { markOf } from '../../marks.ts';
import { dropParameter, putParameter } from '../../parameters/testing.ts';
import { type Instance, isOver } from '../ec2/instance.ts';
import { type FakeAws, openFakeAws } from '../fake-aws.ts';
import { publishedLimits } from '../limits.ts';
import { GPU_BACKEND, SEED_DATA } from '../seed-data.ts';
import { bootable } from '../serve.ts';
import type { AwsCall } from '../wire/read-call.ts';

export const REGION = 'us-west-2';
const TERMINATE_MS = 3_000;
const PLACES: Readonly<Record<Place, { readonly region: string; readonly configPrefix: string }>> = {
  pools: { region: REGION, configPrefix: '/velda/pools/' },
  other: { region: REGION, configPrefix: '/other/pools/' },
  mistyped: { region: REGION, configPrefix: '/velda/pool/' },
  elsewhere: { region: 'eu-west-1', configPrefix: '/velda/pools/' },
};

const isLaterPage = ({ body }: AwsCall): boolean => body.NextToken !== undefined;
const broken = (action: string, code: string) =>
  ({ action, when: isLaterPage, what: { kind: 'error', code, status: 500 } }) as const;

function documentsOf(fake: FakeAws): SliceDocuments {
  const kind = aws.sources.aws;
  const keyOf = (place: Place, name: string): string => `${PLACES[place].configPrefix}${name}`;
  return {
    async open(place, context) {
      const config = kind.config.parse(PLACES[place]);
      return { kind: 'aws', place: kind.place?.(config), source: await kind.open(config, context) };
    },
    write(place, name, text) {
      putParameter(fake, keyOf(place, name), text);
      return keyOf(place, name);
    },
    erase: (place, name) => dropParameter(fake, keyOf(place, name)),
    laterPage: broken('GetParametersByPath', 'InternalServerError'),
  };
}

function machineOf(instance: Instance, { world }: FakeAws): SliceMachine {
  const { tags, launchIndex } = instance;
  return {
    ...bootable(instance, world),
    name: tags.get('muster:name') ?? nameAt(tags.get('muster:stem') ?? '', launchIndex),
    mark: markOf(tags),
    exists: (nowMs) => !isOver(instance, nowMs),
  };
}

/** Machines that others start in the account, some with a part of our mark. */
async function addForeign(fake: FakeAws, cluster: string): Promise<string[]> {
  const ec2 = new EC2Client({ region: REGION, requestHandler: requestHandler(fake.fetch) });
  const most = { 'muster:pool': 'p', 'muster:shape': 's', 'muster:name': 'gpu-pool-x' };
  const tagSets: readonly Readonly<Record<string, string>>[] = [
    {},
    { Name: 'velda-gpu-workers-gpu-pool' },
    most,
    { ...most, 'muster:cluster': 'cluster9' },
    { 'muster:cluster': cluster },
  ];
  const started = tagSets.map(async (tags) => {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const TagSpecifications = [{ ResourceType: 'instance' as const, Tags }];
    const what = { ImageId: SEED_DATA.image, InstanceType: 'p3.2xlarge' as const, MinCount: 1, MaxCount: 1 };
    const { Instances = [] } = await ec2.send(new RunInstancesCommand({ ...what, TagSpecifications }));
    return Instances[0]?.InstanceId ?? '';
  });
  return Promise.all(started);
}

let loaded: Promise<void> | undefined;

async function load(): Promise<void> {
  await Promise.all([import('../../launch-template/backend.ts'), import('../../parameters/source.ts')]);
  const { fetch } = openFakeAws({ clock: new VirtualClock(), random: seededRandom(1) });
  const settings = { region: REGION, requestHandler: requestHandler(fetch) };
  await new EC2Client(settings).send(new DescribeInstancesCommand());
  await new SSMClient(settings).send(new GetParametersByPathCommand({ Path: '/' }));
}

/** The fake AWS behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeAws>();

export const AWS_SLICE: SliceSuite = {
  provider: aws,
  backend: { kind: 'aws_launch_template', config: { region: REGION, ...GPU_BACKEND } },
  openCloud({ clock, random, isLimited, bootMs, ...options }) {
    const limits = isLimited ? publishedLimits : noLimits;
    const { pageSize: largestPage, lagMs: listLagMs } = options;
    const behaviour = { bootMs, terminateMs: TERMINATE_MS, largestPage, listLagMs };
    const fake = openFakeAws({ clock, random, limits, behaviour });
    const cloud = {
      fake,
      machines: () => fake.machines(REGION).map((instance) => machineOf(instance, fake)),
      watch: (changed: (machine: SliceMachine) => void) =>
        void fake.watch((instance) => changed(machineOf(instance, fake))),
      addForeign: (cluster: string) => addForeign(fake, cluster),
      refuseLate: (count: number) => void fake.region(REGION).stock.late.set('p3.2xlarge', count),
      documents: documentsOf(fake),
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  load() {
    loaded ??= load();
    return loaded;
  },
  creation: 'RunInstances',
  removals: ['TerminateInstances', 'StopInstances'],
  mostCalls: { creation: 1, removal: 20 },
  laterPage: broken('DescribeInstances', 'InternalError'),
  denied: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
  named: REGION,
  forbidden: [
    ['a file', { ami_id: 'file:/etc/passwd' }, 'ami_id'],
    ['a variable', { tags: { key: `\${AWS_SECRET_ACCESS_KEY}` } }, 'tags.key'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
  ],
};
