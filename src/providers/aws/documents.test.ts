import { describe, expect, it } from 'vitest';
import { readPool } from '#config/pool-document.ts';
import type { Document } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import provider from './index.ts';
import { OfferingsConfig } from './offerings/config.ts';
import { openOfferings } from './offerings/source.ts';
import { openScene, REGION } from './testing.ts';

const read = (document: object | string, trust: 'operator' | 'foreign' = 'foreign') =>
  readPool(typeof document === 'string' ? document : JSON.stringify(document), { kinds: provider.backends, trust });
const problemsOf = (...args: Parameters<typeof read>) =>
  (read(...args).problems ?? []).map(({ path, message }) => `${path}: ${message}`);

const poolOf = (backend: object, more: object = {}) => ({
  name: 'gpu-pool',
  auto_scaler: { backend: { aws_launch_template: backend }, max_agents: 20, ...more },
});

describe('documents that users write', () => {
  it('of the seed are taken as they stand', () => {
    const gpu = {
      region: 'us-west-2',
      launch_template_name: 'velda-gpu-workers',
      instance_type: 'p3.2xlarge',
      ami_id: 'ami-1',
      subnet_id: 'subnet-1',
      security_group_ids: ['sg-1'],
    };
    for (const backend of [
      gpu,
      { region: 'us-west-2', instance_type: 'p3.2xlarge' },
      { instance_type: 'p4d.24xlarge', subnet_id: 'subnet-1' },
    ]) {
      expect(problemsOf(poolOf(backend))).toEqual([]);
    }
  });

  it('name security groups either by ids, or by names in the default VPC', () => {
    const named = { instance_type: 't2.micro', security_groups: ['commandlab-daemon'] };
    expect(problemsOf(poolOf(named))).toEqual([]);
    for (const more of [{ security_group_ids: ['sg-1'] }, { subnet_id: 'subnet-1' }, { launch_template_name: 'x' }])
      expect(problemsOf(poolOf({ ...named, ...more })).join()).toContain(
        `security_groups: cannot be combined with ${Object.keys(more)}; set security_group_ids alone`,
      );
  });

  it('may have every field that the original knows, in proto-JSON', () => {
    const backend = {
      launch_template_name: 'velda-agents',
      instanceNamePrefix: 'velda-',
      useInstanceIdAsName: true,
      agent_config: { broker: { address: 'a:1' }, sandbox_config: {}, daemon_config: { work_dir_path: '/data' } },
      agent_config_content: '',
      agent_version_override: 'v1.2.3',
      tags: { VeldaApp: 'prod', Pool: 'gpu' },
      max_stopped_instances: '3',
      max_instance_lifetime: '86400s',
      zone: 'us-west-2a',
    };
    const { spec, warnings } = read(poolOf(backend));

    expect(spec?.offers[0]?.config).toMatchObject({
      maxStoppedInstances: 3,
      maxInstanceLifetime: 86_400_000,
      useInstanceIdAsName: true,
      agentConfig: { sandbox_config: {} },
    });
    expect(warnings.map(({ path }) => path)).toEqual([
      'auto_scaler.backend.aws_launch_template.agent_version_override',
    ]);
  });

  it('may not send the server’s credentials elsewhere', () => {
    const backend = { instance_type: 'p3.2xlarge', endpoint: 'https://evil.example' };

    expect(problemsOf(poolOf(backend))[0]).toContain('endpoint may be set only in the operator');
    expect(problemsOf(poolOf(backend), 'operator')).toEqual([]);
  });

  it('name a wrong key with the nearest one', () => {
    expect(problemsOf(poolOf({ instance_type: 'p3.2xlarge', subnet: 'subnet-1' }))[0]).toContain('subnet_id');
  });
});

describe('documents that aws_auto makes', () => {
  it('say the same as one that was written by hand, and so have machines of the same shape', async () => {
    const scene = openScene();
    const template = {
      region: REGION,
      subnetId: 'subnet-1',
      amiName: 'velda-agent-*',
      maxInstanceLifetime: '1h',
      endpoint: 'http://127.0.0.1:4566',
    };
    const config = OfferingsConfig.parse({ template, instanceTypePrefixes: ['p3.2'], poolPrefix: 'aws' });
    const source = await openOfferings(config, scene.contextFor('cluster1'));
    const [made] = (await scene.during(source.documents(new Map(), going()))) as [Document];
    const byHand = poolOf({
      region: REGION,
      subnet_id: 'subnet-1',
      ami_name: 'velda-agent-*',
      max_instance_lifetime: '1h',
      endpoint: 'http://127.0.0.1:4566',
      instance_type: 'p3.2xlarge',
    });
    const auto = read(made.text ?? '', 'operator');

    expect(auto.problems).toBeUndefined();
    expect(auto.warnings).toEqual([]);
    expect(auto.spec?.name).toBe('aws-p3.2xlarge');
    expect(auto.spec?.offers).toEqual(read(byHand, 'operator').spec?.offers);
    expect(auto.spec?.scaling).toMatchObject({ maxAgents: 10, maxIdleSlots: 1, idleDecayMs: 60_000 });
  });
});
