import { existsSync } from 'node:fs';
import { EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import simulation from './simulation.ts';

test('there is a pool to find and a template to launch from, and nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  const { AWS_ENDPOINT_URL: endpoint = '', AWS_REGION: region = '' } = running.environment;
  const settings = { endpoint, region, credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' } };
  const [ec2, ssm] = [new EC2Client(settings), new SSMClient(settings)];

  const { Parameters } = await ssm.send(new GetParametersByPathCommand({ Path: '/velda/pools/' }));
  const pool = JSON.parse(Parameters?.[0]?.Value ?? '');
  const { launch_template_name: LaunchTemplateName } = pool.auto_scaler.backend.aws_launch_template;
  const launch = { LaunchTemplate: { LaunchTemplateName }, MinCount: 1, MaxCount: 1 };
  const { Instances } = await ec2.send(new RunInstancesCommand(launch));

  expect(pool.name).toBe('gpu-pool');
  expect(Instances?.[0]?.InstanceType).toBe('p3.2xlarge');
  expect(existsSync(running.folder)).toBe(true);
  ec2.destroy();
  ssm.destroy();
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});
