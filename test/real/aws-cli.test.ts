import { expect, test, vi } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { LaunchConfig } from '../../src/providers/aws/config.ts';
import { openFakeAws } from '../../src/providers/aws/fake/fake-aws.ts';
import { SEED_DATA } from '../../src/providers/aws/fake/seed-data.ts';
import { serve } from '../../src/providers/aws/fake/serve.ts';
import { openLaunchTemplate } from '../../src/providers/aws/launch-template/backend.ts';
import { openWorld } from '../system/harness/world.ts';
import { furnish, instancesOf, openAws } from './parts/aws.ts';
import { driveAws } from './parts/drive-aws.ts';
import { makeOurs, OUR_MARK, OUR_NAME, realContext } from './parts/made-by-muster.ts';
import { needed } from './parts/part.ts';
import { startPlane } from './parts/plane.ts';
import { pythonPrograms } from './parts/python.ts';

test('parameters written with the AWS CLI become pools and instances, change, and go', async (context) => {
  const programs = needed(context, await pythonPrograms());
  const world = openWorld(context);
  const cloud = await openAws(world, programs);
  const { aws } = cloud;
  const image = await furnish(cloud);
  const subnet = await aws<string>('ec2', 'describe-subnets', '--query', 'Subnets[0].SubnetId');
  const group = await aws<string>('ec2', 'describe-security-groups', '--query', 'SecurityGroups[0].GroupId');
  // A machine of somebody else, in the same account.
  await aws('ec2', 'run-instances', '--image-id', image, '--instance-type', 'm5.large', '--count', '1');
  const [stranger] = await instancesOf(cloud);
  const gpuPool = (sizes: object): string => {
    const network = { subnet_id: subnet, security_group_ids: [group] };
    const template = { launch_template_name: 'velda-gpu-workers', instance_type: 'p3.2xlarge', ami_id: image };
    const backend = { aws_launch_template: { region: 'us-west-2', ...template, ...network } };
    return JSON.stringify({ name: 'gpu-pool', auto_scaler: { backend, scale_up_error_retry_delay: '5s', ...sizes } });
  };
  const put = (name: string, value: string, type = 'String', ...more: string[]) =>
    aws('ssm', 'put-parameter', '--name', `/velda/pools/${name}`, '--type', type, '--value', value, ...more);
  const plane = await startPlane(world, cloud);

  // A mistake, JSON, and YAML as a secret in the folder of a team.
  await put('wrong', '{"name": "wrong", "auto_scaler": {"max_agnts": 1}}');
  await put('gpu-pool', gpuPool({ max_agents: 20, min_idle_agents: 2, max_idle_agents: 5 }));
  await put('data-team/etl-pool', 'name: etl-pool\ndescription: Machines that come by themselves\n', 'SecureString');
  await plane.untilPools(['etl-pool', 'gpu-pool']);
  const shown = await plane.muster('source', 'show', 'parameters');
  await plane.untilInstances('gpu-pool', 2);

  // Demand.
  const started = await plane.muster('run', '-d', '--count', '3', '-p', 'gpu-pool', '--', 'true');
  await plane.untilInstances('gpu-pool', 5);

  // A change.
  await put('gpu-pool', gpuPool({ max_agents: 6, min_idle_agents: 4, max_idle_agents: 5 }), 'String', '--overwrite');
  await until('the change is there', async () => (await plane.api.pool('gpu-pool')).auto_scaler.max_agents === 6);
  const changed = await plane.api.pool('gpu-pool');
  await plane.untilInstances('gpu-pool', 6);

  // The end.
  for (const id of started.out.trim().split(/\s+/)) await plane.muster('session', 'kill', id);
  await aws('ssm', 'delete-parameter', '--name', '/velda/pools/gpu-pool');
  await plane.untilPools(['etl-pool']);
  const left = await until('only the stranger is left', async () => {
    const living = await instancesOf(cloud);
    return living.length === 1 && living;
  });

  expect(shown.out).toContain('max_agnts');
  expect(changed.owner).toMatchObject({ source: 'parameters', key: '/velda/pools/gpu-pool', version: '2' });
  expect(left).toEqual([stranger]);
});

test("Amazon's own command line makes, lists and ends machines of the simulated AWS, and reads a machine of Muster", async (context) => {
  const programs = needed(context, await pythonPrograms());
  const fake = openFakeAws({ clock: systemClock, random: systemRandom, behaviour: { bootMs: 300, largestPage: 5 } });
  const served = await serve(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  const account = { AWS_ACCESS_KEY_ID: 'simulated', AWS_SECRET_ACCESS_KEY: 'simulated', AWS_REGION: 'us-west-2' };
  for (const [name, value] of Object.entries(account)) vi.stubEnv(name, value);
  context.onTestFinished(() => void vi.unstubAllEnvs());
  const config = LaunchConfig.parse({
    region: 'us-west-2',
    instanceType: 'g4dn.xlarge',
    amiId: SEED_DATA.image,
    subnetId: SEED_DATA.subnets[1],
    securityGroupIds: [SEED_DATA.group],
    keyName: SEED_DATA.keyPair,
    iamInstanceProfile: SEED_DATA.profile,
    market: 'spot',
  });
  await makeOurs(await openLaunchTemplate(config, realContext({ fetch: fake.fetch })));

  const more = { AWS_ENDPOINT_URL: served.address, AWS_DEFAULT_REGION: 'us-west-2', AWS_PAGER: '' };
  const quiet = { AWS_EC2_METADATA_DISABLED: 'true', AWS_DEFAULT_OUTPUT: 'json', AWS_MAX_ATTEMPTS: '1' };
  const env = { ...(process.env as Record<string, string>), ...account, ...more, ...quiet };

  expect(await driveAws(programs, env, OUR_NAME)).toEqual({
    made: ['i-', 'i-'],
    listed: [OUR_NAME, 'ref-1', 'ref-2'],
    parameters: ['/ref/a', '/ref/b', '/ref/c'],
    refused: {
      image: 'InvalidAMIID.NotFound',
      subnet: 'InvalidSubnetID.NotFound',
      group: 'InvalidGroup.NotFound',
      key: 'InvalidKeyPair.NotFound',
      profile: 'InvalidParameterValue',
      instance: 'InvalidInstanceID.NotFound',
      parameter: 'ParameterNotFound',
      accessKey: 'AuthFailure',
      region: 'AuthFailure',
    },
    // What we send means to Amazon's command line what we mean.
    ours: {
      type: 'g4dn.xlarge',
      image: SEED_DATA.image,
      subnet: SEED_DATA.subnets[1],
      key: SEED_DATA.keyPair,
      groups: [SEED_DATA.group],
      lifecycle: 'spot',
      tags: expect.arrayContaining([
        { Key: 'muster:cluster', Value: OUR_MARK.cluster },
        { Key: 'muster:pool', Value: OUR_MARK.owner },
        { Key: 'muster:shape', Value: OUR_MARK.shape },
      ]),
    },
  });
});
