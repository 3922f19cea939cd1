import { afterEach, describe, expect, it, vi } from 'vitest';
import { going } from '#core/testing/going.ts';
import { ec2At, ssmAt } from './client.ts';
import { LaunchConfig, regionIn } from './config.ts';
import { GPU, openBackend, openEcsBackend, openScene, REGION } from './testing.ts';

const describeAll = { MaxResults: 5 };

describe('clients', () => {
  it('are shared by all who mean the same place, however they name it', async () => {
    const context = openScene().contextFor('cluster1');
    const [named, chosen, again] = await Promise.all([
      ec2At(context, { region: REGION }),
      ec2At(context, {}),
      ec2At(context, { region: REGION }),
    ]);

    expect(chosen.region).toBe(REGION);
    expect(named).toBe(again);
    expect((await ec2At(context, {})).rates).toBe(chosen.rates);
    expect(await ec2At(context, { region: REGION })).toBe(await ec2At(context, {}));
  });

  it('of other regions, endpoints and servers are others', async () => {
    const scene = openScene();
    const context = scene.contextFor('cluster1');
    const here = await ec2At(context, { region: REGION });

    expect(await ec2At(context, { region: 'eu-west-1' })).not.toBe(here);
    expect(await ec2At(context, { region: REGION, endpoint: 'http://127.0.0.1:4566' })).not.toBe(here);
    expect(await ec2At(scene.contextFor('cluster1'), { region: REGION })).not.toBe(here);
  });

  it('make one cloud of a region, and another of an endpoint', async () => {
    const scene = openScene();
    const cloudOf = async (more: object) => (await openBackend(scene, { ...GPU, ...more })).cloud;

    expect(await cloudOf({})).toBe('aws:us-west-2');
    expect(await cloudOf({ region: undefined, zone: 'eu-west-1b' })).toBe('aws:eu-west-1');
    expect(await cloudOf({ endpoint: 'http://127.0.0.1:4566' })).toBe('aws:us-west-2@127.0.0.1:4566');
  });

  it('call no more often than the account may, for all callers together', async () => {
    const scene = openScene();
    const context = scene.contextFor('cluster1');
    const ec2 = await ec2At(context, { region: REGION });
    const startedMs = scene.clock.monotonic();
    const calls = Array.from({ length: 140 }, () => ec2.ask('DescribeInstances', describeAll, { signal: going() }));
    await scene.during(Promise.all(calls));

    expect(scene.clock.monotonic() - startedMs).toBeGreaterThanOrEqual(2_000);
    expect(scene.clock.monotonic() - startedMs).toBeLessThan(2_200);
  });

  it('ask more often where the operator says that the account may', async () => {
    const scene = openScene();
    const ssm = await ssmAt({ ...scene.contextFor('cluster1'), rates: { aws: 2 } }, { region: REGION });
    const startedMs = scene.clock.monotonic();
    const path = { Path: '/x' };
    const calls = Array.from({ length: 160 }, () => ssm.ask('GetParametersByPath', path, { signal: going() }));
    await scene.during(Promise.all(calls));

    expect(scene.clock.monotonic() - startedMs).toBeLessThan(1_200);
  });

  it('pause when AWS says that it was too much', async () => {
    const scene = openScene();
    const ec2 = await ec2At(scene.contextFor('cluster1'), { region: REGION });
    scene.fake.failureRules.add({ what: { kind: 'throttle' } });
    const ask = () => scene.during(ec2.ask('DescribeInstances', describeAll, { signal: going() }));
    await expect(ask()).rejects.toMatchObject({ kind: 'throttled' });
    const startedMs = scene.clock.monotonic();
    await ask();

    expect(scene.clock.monotonic() - startedMs).toBeGreaterThanOrEqual(900);
  });

  it('give up a request that hangs', async () => {
    const scene = openScene();
    const ec2 = await ec2At(scene.contextFor('cluster1'), { region: REGION });
    scene.fake.failureRules.add({ what: { kind: 'hang' } });

    await expect(scene.during(ec2.ask('DescribeInstances', describeAll, { signal: going() }))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'DescribeInstances in us-west-2 did not answer within 30s.',
    });
  });
});

describe('without credentials', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['machines', openBackend],
    ['tasks', openEcsBackend],
  ])('a backend of %s does not open, so that no creation counts as sent from it', async (_what, open) => {
    const nothing = { AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' };
    const none = {
      ...nothing,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: undefined,
      AWS_PROFILE: undefined,
    };
    for (const [name, value] of Object.entries(none)) vi.stubEnv(name, value);
    const scene = openScene();

    await expect(open(scene)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining('in us-west-2 failed: CredentialsProviderError'),
      remedy: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    });
    vi.unstubAllEnvs();
    await expect(open(scene)).resolves.toBeDefined();
  });
});

describe('the region', () => {
  it.each([
    [{ zone: 'us-west-2a' }, 'us-west-2'],
    [{ zone: 'us-west-2-lax-1a' }, 'us-west-2'],
    [{ zone: 'us-gov-east-1b' }, 'us-gov-east-1'],
    [{ region: 'eu-central-1', zone: 'us-west-2a' }, 'eu-central-1'],
    [{}, undefined],
  ])('of %j is %s', (config, region) => {
    expect(regionIn(config)).toBe(region);
  });
});

describe('the configuration', () => {
  const problemsOf = (config: object): string[] =>
    (LaunchConfig.safeParse(config).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

  it('takes an empty text for an absent one', () => {
    expect(LaunchConfig.parse({ instanceType: 'c5.large', launchTemplateName: '' }).launchTemplateName).toBeUndefined();
  });

  it.each([
    [{}, ': needs instance_type or a launch template'],
    [{ instanceType: 'x', amiId: 'ami-1', amiName: 'n' }, 'amiName: cannot be combined with ami_id; keep one of them'],
    [{ instanceType: 'x', amiOwner: '1' }, 'amiOwner: has no effect without ami_name'],
    [{ instanceType: 'x', spotMaxPrice: 1 }, 'spotMaxPrice: has no effect without market: spot'],
    [{ instanceType: 'x', tags: { 'muster:pool': 'y' } }, 'tags: must not begin with aws: or muster:'],
    [
      { instanceType: 'x', agentConfigContent: '- a' },
      'agentConfigContent: must be the YAML or JSON of an agent’s file',
    ],
    [{ instanceType: 'x', endpoint: 'ftp://x' }, 'endpoint: Invalid URL'],
  ])('refuses %j', (config, problem) => {
    expect(problemsOf(config)).toContain(problem);
  });
});
