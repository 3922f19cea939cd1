import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { OURS } from '../../../conformance/backend-world.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { LaunchConfig } from '../config.ts';
import { publishedLimits } from '../fake/limits.ts';
import { SEED_DATA } from '../fake/seed-data.ts';
import { paramsOf } from '../fake/wire/params.ts';
import { type AwsScene, GPU, openBackend, openScene, REGION } from '../testing.ts';
import { openLaunchTemplate } from './backend.ts';

const callsOf = ({ fake }: AwsScene, action: string) => fake.calls.filter((call) => call.action === action);
const faultsOf = (outcomes: readonly Outcome[]) => outcomes.flatMap(({ fault }) => fault ?? []);
const dataOf = (text: unknown): string => Buffer.from(String(text), 'base64').toString();

/** Gives the template of the GPU pool a new default version. */
function changeTemplate(
  { fake }: AwsScene,
  data: Readonly<Record<string, string | readonly Readonly<Record<string, string>>[]>>,
): void {
  const template = [...fake.region(REGION).templates.values()].find(({ name }) => name === SEED_DATA.gpuTemplate);
  if (!template) return;
  const usual = { ImageId: SEED_DATA.image, InstanceType: 'p3.2xlarge' };
  template.versions.push({ data: paramsOf({ ...usual, ...data }), note: undefined, atMs: 0 });
  template.defaultVersion = template.versions.length;
}

describe('a launch', () => {
  it('of a thousand is one call within the published limits, and each machine is accounted for', async () => {
    const scene = openScene({ limits: publishedLimits });
    const backend = await openBackend(scene);
    const launch = aBatch(1_000);
    const outcomes = await scene.during(backend.create(launch, going()));
    const machines = await scene.during(backend.list(going()));

    expect(faultsOf(outcomes)).toEqual([]);
    expect(callsOf(scene, 'RunInstances')).toHaveLength(1);
    expect(machines.map(({ name }) => name).toSorted()).toEqual([...launch.names].toSorted());
  });

  it('beyond what the account may start now asks for that, and says when to come back', async () => {
    const scene = openScene({ limits: publishedLimits });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(990), going()));
    const outcomes = await scene.during(backend.create({ ...aBatch(50), id: 'launch2' }, going()));
    const late = faultsOf(outcomes);

    expect(outcomes.length - late.length).toBeGreaterThanOrEqual(10);
    expect(new Set(late.map(({ kind }) => kind))).toEqual(new Set(['throttled']));
    expect(late[0]?.retryAfterMs).toBeGreaterThan(0);
    expect(callsOf(scene, 'RunInstances').map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  });

  it('asks for all that the seed’s document says', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(3), going()));
    const [call] = callsOf(scene, 'RunInstances');

    expect(call?.parameters).toMatchObject({
      MinCount: '1',
      MaxCount: '3',
      ClientToken: 'launch1',
      ImageId: SEED_DATA.image,
      InstanceType: 'p3.2xlarge',
      SubnetId: SEED_DATA.subnets[0],
    });
    const [machine] = scene.fake.machines();
    expect(Object.fromEntries(machine?.tags ?? [])).toMatchObject({
      'muster:cluster': 'cluster1',
      'muster:pool': 'pool1',
      'muster:shape': '0123456789ab',
      'muster:launch': 'launch1',
      Name: expect.stringMatching(/^velda-gpu-workers-m-gpu-pool1-/),
    });
  });

  it('that finds part of the capacity tells the other names that there is none', async () => {
    const scene = openScene();
    scene.fake.region(REGION).stock.machines.set('p3.2xlarge', 2);
    const backend = await openBackend(scene);
    const outcomes = await scene.during(backend.create(aBatch(5), going()));

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual([
      undefined,
      undefined,
      'exhausted',
      'exhausted',
      'exhausted',
    ]);
  });

  it.each([
    ['nothing', () => ''],
    ['half of it', (text: string) => text.slice(0, text.length / 2)],
    ['a page of somebody else', () => '<html><body>Please log in</body></html>'],
  ])('whose answer is %s leaves it open what was made', async (_what, spoil) => {
    const scene = openScene();
    const context = scene.contextFor(OURS);
    const fetchSpoilt: typeof fetch = async (url, init) => {
      const response = await scene.fake.fetch(url, init);
      const isLaunch = String(init?.body).includes('Action=RunInstances');
      return isLaunch ? new Response(spoil(await response.text())) : response;
    };
    const backend = await openLaunchTemplate(LaunchConfig.parse(GPU), { ...context, fetch: fetchSpoilt });

    const heard = await scene.during(backend.create(aBatch(2), going()).catch((thrown: unknown) => thrown));

    expect(heard).toMatchObject({ kind: 'unavailable' });
    expect(await scene.during(backend.list(going()))).toHaveLength(2);
  });

  it('that was carried out with other words is answered from what it made', async () => {
    const scene = openScene();
    const launch = aBatch(3);
    await scene.during((await openBackend(scene)).create(launch, going()));
    changeTemplate(scene, { InstanceType: 'p3.8xlarge' });
    const again = await openBackend(scene);
    const outcomes = await scene.during(again.create(launch, going()));

    expect(callsOf(scene, 'RunInstances').map(({ outcome }) => outcome)).toEqual(['ok', 'IdempotentParameterMismatch']);
    expect(outcomes).toEqual(launch.names.map((name) => ({ name, operation: expect.any(String) })));
    expect(scene.fake.machines()).toHaveLength(3);
  });

  it('is answered from what it made where its reply was lost and its template has changed since', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, amiId: undefined, amiName: 'velda-agent-2*' });
    scene.fake.failureRules.add({ action: 'RunInstances', what: { kind: 'lost reply' } });
    await expect(scene.during(backend.create(aBatch(2), going()))).rejects.toMatchObject({ kind: 'unavailable' });
    changeTemplate(scene, { InstanceType: 'p3.8xlarge' });
    const outcomes = await scene.during(backend.create(aBatch(2), going()));

    expect(faultsOf(outcomes)).toEqual([]);
    expect(outcomes.map(({ name }) => name)).toEqual(aBatch(2).names);
    expect(scene.fake.machines()).toHaveLength(2);
  });

  it('with names of no common form makes one call a name', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const outcomes = await scene.during(backend.create({ ...aBatch(0), names: ['m-one', 'm-two'] }, going()));

    expect(outcomes).toMatchObject([{ name: 'm-one' }, { name: 'm-two' }]);
    expect(callsOf(scene, 'RunInstances').map(({ parameters }) => parameters.ClientToken)).toEqual([
      'launch1-0',
      'launch1-1',
    ]);
  });

  it('on the spot market says so', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, market: 'spot', spotMaxPrice: 1.5 });
    await scene.during(backend.create(aBatch(1), going()));

    expect(backend.park).toBeUndefined();
    expect(callsOf(scene, 'RunInstances')[0]?.parameters).toMatchObject({
      'InstanceMarketOptions.MarketType': 'spot',
      'InstanceMarketOptions.SpotOptions.MaxPrice': '1.5',
    });
  });

  it('can be called as its instances', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, useInstanceIdAsName: true });
    const outcomes = await scene.during(backend.create(aBatch(2), going()));
    // Another pool's backend lists for all of them.
    const machines = await scene.during((await openBackend(scene)).list(going()));
    const ids = scene.fake.machines().map(({ id }) => id);

    expect(outcomes.map(({ machine }) => machine)).toEqual(ids);
    expect(machines.map(({ name }) => name).toSorted()).toEqual(ids.toSorted());
    expect(dataOf(scene.fake.machines()[0]?.userData)).toContain('name=$(ask instance-id)');
  });
});

describe('images', () => {
  it.each([
    ['c7g.xlarge', 'velda-agent-*', SEED_DATA.armImage],
    ['c5.large', 'velda-agent-*', SEED_DATA.image],
    ['c7g.xlarge', undefined, SEED_DATA.armStandardImage],
    ['c5.large', undefined, SEED_DATA.standardImage],
  ])('fit the architecture of %s, where ami_name is %s', async (instanceType, amiName, image) => {
    const scene = openScene();
    const network = { subnetId: GPU.subnetId, securityGroupIds: GPU.securityGroupIds };
    const backend = await openBackend(scene, { region: REGION, ...network, instanceType, amiName });
    const [outcome] = await scene.during(backend.create(aBatch(1), going()));

    expect(outcome?.fault).toBeUndefined();
    expect(scene.fake.machines().map(({ imageId }) => imageId)).toEqual([image]);
  });

  it('fit the architecture of the launch template where the pool names no type', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, amiId: undefined, instanceType: undefined, amiName: 'velda-*' });
    await scene.during(backend.create(aBatch(1), going()));

    expect(scene.fake.machines().map(({ imageId }) => imageId)).toEqual([SEED_DATA.image]);
  });

  it('of any architecture count where the role may not ask for that of a type', async () => {
    const scene = openScene();
    scene.fake.failureRules.add({
      action: 'DescribeInstanceTypes',
      times: 100,
      what: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
    });
    const backend = await openBackend(scene, { ...GPU, amiId: undefined, amiName: 'velda-agent-2*' });
    const [outcome] = await scene.during(backend.create(aBatch(1), going()));

    expect(outcome?.fault).toBeUndefined();
  });

  it('by name are the newest of the own account, never anybody’s', async () => {
    const scene = openScene();
    const { images } = scene.fake.region(REGION);
    const stranger = { name: 'velda-agent-9999', owner: '666', architecture: 'x86_64' };
    images.set('ami-00000000000000bad', { ...stranger, id: 'ami-00000000000000bad', createdAtMs: scene.clock.now() });
    const open = (more: object) => openBackend(scene, { ...GPU, amiId: undefined, amiName: 'velda-agent-*', ...more });
    const own = await open({ amiName: 'velda-agent-2*' });
    const theirs = await open({ amiOwner: '666' });
    await scene.during(own.create(aBatch(1, 'own'), going()));
    await scene.during(theirs.create(aBatch(1, 'theirs'), going()));

    expect(scene.fake.machines().map(({ imageId }) => imageId)).toEqual([SEED_DATA.image, 'ami-00000000000000bad']);
  });

  it('that are not found are named', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, amiId: undefined, amiName: 'no-such-*' });

    await expect(scene.during(backend.create(aBatch(1), going()))).rejects.toMatchObject({
      kind: 'missing',
      message: 'No image of self in us-west-2 is named no-such-* and has the architecture x86_64.',
    });
  });

  it('are the standard one where nothing is named, asked for once a day', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { region: REGION, instanceType: 'p3.2xlarge' });
    await scene.during(backend.create(aBatch(1, 'a'), going()));
    await scene.during(backend.create(aBatch(1, 'b'), going()));
    await scene.clock.advance(25 * 3_600_000);
    await scene.during(backend.create(aBatch(1, 'c'), going()));

    expect(scene.fake.machines().map(({ imageId }) => imageId)).toEqual(Array(3).fill(SEED_DATA.standardImage));
    expect(callsOf(scene, 'GetParameter')).toHaveLength(2);
    expect(dataOf(scene.fake.machines()[0]?.userData)).toContain("'https://muster:8081/agent/agent.tar.gz'");
  });

  it('that bring no agent need a server that offers one', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { region: REGION, instanceType: 'p3.2xlarge', amiId: 'aws-ml' });
    const { install: _none, ...boot } = aBatch(1).boot;

    await expect(scene.during(backend.create({ ...aBatch(1), boot }, going()))).rejects.toMatchObject({
      kind: 'unsupported',
    });
  });

  it('and templates are what a pool’s form is made of', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, amiId: undefined, amiName: 'velda-agent-2*' });
    const before = await scene.during(backend.form?.(going()) as Promise<string>);
    changeTemplate(scene, { InstanceType: 'p3.8xlarge' });
    const after = await scene.during(backend.form?.(going()) as Promise<string>);

    expect(before).toBe(`lt-0000000000000000a 1 ${SEED_DATA.image}`);
    expect(after).toBe(`lt-0000000000000000a 2 ${SEED_DATA.image}`);
  });
});

describe('a launch template', () => {
  it('with interfaces gets subnet and groups in its first one', async () => {
    const scene = openScene();
    changeTemplate(scene, { NetworkInterface: [{ DeviceIndex: '0', AssociatePublicIpAddress: 'true' }] });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1), going()));
    const { parameters } = callsOf(scene, 'RunInstances')[0] ?? {};

    expect(parameters).toMatchObject({
      'NetworkInterface.1.SubnetId': SEED_DATA.subnets[0],
      'NetworkInterface.1.SecurityGroupId.1': SEED_DATA.group,
      'NetworkInterface.1.AssociatePublicIpAddress': 'true',
    });
    expect(parameters?.SubnetId).toBeUndefined();
  });

  it('keeps its own user data, before ours', async () => {
    const scene = openScene();
    changeTemplate(scene, { UserData: Buffer.from('#cloud-config\npackages: [htop]\n').toString('base64') });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1), going()));
    const data = dataOf(scene.fake.machines()[0]?.userData);

    expect(data).toMatch(/multipart\/mixed[\s\S]*#cloud-config\npackages: \[htop\]\n[\s\S]*#!\/bin\/sh/);
  });

  it('that is gone is named, with what to do', async () => {
    const scene = openScene();
    scene.fake.region(REGION).templates.clear();
    const backend = await openBackend(scene);

    await expect(scene.during(backend.create(aBatch(1), going()))).rejects.toMatchObject({
      kind: 'missing',
      remedy: expect.stringContaining('launch_template_name'),
    });
  });
});
