import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readPolicy } from '../../src/nodes/policy.ts';
import { openWorld } from '../system/harness/world.ts';
import { furnish, instancesOf, openAws } from './parts/aws.ts';
import { isMissing, needed } from './parts/part.ts';
import { startPlane } from './parts/plane.ts';
import { pythonPrograms } from './parts/python.ts';
import { run, runWell } from './parts/run.ts';
import { findTerraform, openTerraform } from './parts/terraform.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const env = process.env as Record<string, string>;

interface Written {
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

test('the Terraform example is applied as it stands, and its pools get machines from its template', async (context) => {
  const programs = needed(context, await pythonPrograms());
  const world = openWorld(context);
  const cloud = await openAws(world, programs);
  const terraform = needed(context, await openTerraform(world, join(DEPLOY, 'terraform/aws'), cloud.env));
  await furnish(cloud);
  const subnet = await cloud.aws<{ id: string; vpc: string }>(
    ...['ec2', 'describe-subnets', '--query', 'Subnets[0].{id: SubnetId, vpc: VpcId}'],
  );
  const pools = { cpu: { instance_type: 'c5.4xlarge', min_idle_agents: 1 } };
  const settings = {
    vpc_id: subnet.vpc,
    subnet_id: subnet.id,
    ami_name: 'velda-agent-*',
    pools: JSON.stringify(pools),
  };
  const words = Object.entries(settings).map(([name, value]) => `-var=${name}=${value}`);
  const plane = await startPlane(world, cloud);

  await terraform.run('validate', '-no-color');
  await terraform.run('apply', '-no-color', '-auto-approve', ...words);
  await plane.untilPools(['cpu']);
  await plane.untilInstances('cpu', 1);
  const [made] = await cloud.aws<{ id: string }[]>(
    ...['ec2', 'describe-launch-templates', '--launch-template-names', 'muster-agents'],
    ...['--query', 'LaunchTemplates[].{id: LaunchTemplateId}'],
  );
  const used = await cloud.aws<string[]>(
    ...['ec2', 'describe-instances', '--query'],
    'Reservations[].Instances[].Tags[] | [?Key==`aws:ec2launchtemplate:id`].Value',
  );
  const policy = await cloud.aws<{ PolicyDocument: { Statement: { Sid: string }[] } }>(
    ...['iam', 'get-role-policy', '--role-name', 'muster-server', '--policy-name', 'muster-server'],
  );

  expect(await instancesOf(cloud)).toHaveLength(1);
  expect(used).toEqual([made?.id]);
  expect(policy.PolicyDocument.Statement.map(({ Sid }) => Sid)).toContain('EndMarkedMachines');
});

test('the NodeProvisioners that Terraform computes are ones that Muster understands', async (context) => {
  const { program } = needed(context, await findTerraform());
  const world = openWorld(context);
  for (const name of ['locals.tf', 'variables.tf'])
    world.write(`nodes/${name}`, readFileSync(join(DEPLOY, 'terraform/gke-nodes', name), 'utf8'));
  world.write('nodes/output.tf', 'output "objects" {\n  value = local.node_provisioners\n}\n');
  const required = ['project_id', 'location', 'cluster_name', 'node_service_account'].map((name) => `-var=${name}=x`);
  const { TF_CLI_CONFIG_FILE: _, ...rest } = env;
  const options = { env: { ...rest, CHECKPOINT_DISABLE: '1', TF_INPUT: '0' }, cwd: world.path('nodes') };

  await runWell(program, ['apply', '-no-color', '-auto-approve', ...required], options);
  const objects = JSON.parse(await runWell(program, ['output', '-json', 'objects'], options)) as Record<
    string,
    Written
  >;

  expect(Object.entries(objects).map(([name, { metadata, spec }]) => [name, metadata.name, readPolicy(spec)])).toEqual([
    [
      ...['h100', 'h100'],
      expect.objectContaining({
        groups: [
          expect.objectContaining({ name: 'us-central1-a/h100' }),
          expect.objectContaining({ name: 'us-central1-b/h100' }),
        ],
        minPercent: 80,
        buffer: 2,
      }),
    ],
  ]);
});

for (const [title, folder] of [
  ['Azure', 'azure'],
  ['Google Cloud', 'gcp'],
  ['GPU node pools of GKE', 'gke-nodes'],
] as const) {
  test(`the Terraform example for ${title} is valid`, async (context) => {
    const world = openWorld(context);
    const terraform = needed(context, await openTerraform(world, join(DEPLOY, 'terraform', folder), {}));

    expect(await terraform.run('validate', '-no-color')).toContain('The configuration is valid');
  });
}

test('the Terraform example is written as Terraform formats it', async (context) => {
  const { program } = needed(context, await findTerraform());

  const { code, out } = await run(program, ['fmt', '-check', '-recursive', join(DEPLOY, 'terraform')], { env });

  expect({ code, out }).toEqual({ code: 0, out: '' });
});

test('systemd takes the unit without a word', async (context) => {
  const analyze = '/usr/bin/systemd-analyze';
  const part = existsSync(analyze) ? { analyze } : { missing: 'systemd-analyze: this machine has no systemd' };
  if (isMissing(part)) return context.skip(`needs ${part.missing}`);

  const { code, out, err } = await run(analyze, ['verify', join(DEPLOY, 'systemd/muster.service')], { env });

  expect({ code, said: out + err }).toEqual({ code: 0, said: '' });
});

test('the enabled unit is also known by the name of the server that it replaces', async (context) => {
  const systemctl = '/usr/bin/systemctl';
  const part = existsSync(systemctl) ? { systemctl } : { missing: 'systemctl: this machine has no systemd' };
  if (isMissing(part)) return context.skip(`needs ${part.missing}`);
  const world = openWorld(context);
  const units = 'root/etc/systemd/system';
  world.write(`${units}/muster.service`, readFileSync(join(DEPLOY, 'systemd/muster.service'), 'utf8'));

  const { code } = await run(systemctl, [`--root=${world.path('root')}`, 'enable', 'muster.service'], { env });

  expect(code).toBe(0);
  expect(basename(readlinkSync(world.path(`${units}/velda-apiserver.service`)))).toBe('muster.service');
});

test('the Terraform example for DigitalOcean is valid', async (context) => {
  const world = openWorld(context);
  const terraform = needed(context, await openTerraform(world, join(DEPLOY, 'terraform/digitalocean'), {}));

  expect(await terraform.run('validate', '-no-color')).toContain('The configuration is valid');
});
