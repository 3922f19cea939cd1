import { describe, expect, it } from 'vitest';
import type { Launch } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { shown } from '../fake/containers/answer.ts';
import { stateOf } from '../fake/containers/groups.ts';
import { containersOf, openInContainers } from '../fake/containers/testing.ts';
import { type AzureScene, contextIn, openScene } from '../fake/testing.ts';
import { ContainerInstanceConfig } from './config.ts';

const PUT = 'management.containerPut';
const PRIVATE = { image: 'velda.azurecr.io/private:1.2.0' };
const LOGIN = { registryUsername: 'velda', registryPassword: 'planted-registry-password' };

const withPort = (launch: Launch): Launch => ({ ...launch, boot: { ...launch.boot, port: 8000 } });

async function created(scene: AzureScene, config: object = {}, launch = aBatch(1)) {
  const backend = await openInContainers(scene, config);
  return scene.during(backend.create(launch, going()));
}

const faultOf = async (config: object, prepare?: (scene: AzureScene) => void) => {
  const scene = openScene();
  prepare?.(scene);
  const [outcome] = await created(scene, config);
  expect(containersOf(scene).all).toEqual([]);
  return outcome?.fault;
};

describe('a creation', () => {
  it('makes one group with one container that is never restarted, and marks it', async () => {
    const scene = openScene();
    const config = { containerName: 'box', cpus: 2, memoryGb: 4, tags: { team: 'ml' } };
    const launch = withPort(aBatch(1));
    await created(scene, config, launch);
    const [group] = containersOf(scene).all;

    expect(group?.name).toBe(launch.names[0]);
    expect(group?.tags).toEqual({
      'muster-cluster': 'cluster1',
      'muster-pool': 'pool1',
      'muster-shape': '0123456789ab',
      'muster-name': launch.names[0],
      'muster-port': '8000',
      'muster-asked': '1970-01-01T00:00:01.000Z',
      team: 'ml',
    });
    expect(group?.properties).toMatchObject({
      osType: 'Linux',
      restartPolicy: 'Never',
      containers: [{ name: 'box', properties: { resources: { requests: { cpu: 2, memoryInGB: 4 } } } }],
      ipAddress: { type: 'Public', ports: [{ protocol: 'TCP', port: 8000 }] },
    });
  });

  it('gives no address where no port is wanted, and a private one in a subnet', async () => {
    const scene = openScene();
    const named = (name: string, launch: Launch): Launch => ({ ...launch, id: name, names: [name] });
    await created(scene, {}, named('m-none', aBatch(1)));
    await created(scene, { subnetId: 'velda-network/agents' }, named('m-inside', withPort(aBatch(1))));
    const [none, inside] = containersOf(scene).all.map(({ properties }) => properties);

    expect(none).not.toHaveProperty('ipAddress');
    expect(inside).toMatchObject({
      ipAddress: { type: 'Private' },
      subnetIds: [{ id: expect.stringMatching(/^\/subscriptions\/.+\/velda-network\/subnets\/agents$/) }],
    });
  });

  it('never shows the token, the variables and the login of the registry', async () => {
    const scene = openScene();
    await created(scene, { ...PRIVATE, ...LOGIN, env: { HF_TOKEN: 'planted-variable' } });
    const [group] = containersOf(scene).all;
    const seen = JSON.stringify(group && shown(group, scene.clock.now()));

    expect(group?.files.get('/run/velda/velda.yaml')).toContain('joinToken: mlt_secret');
    expect(seen).toContain('HF_TOKEN');
    for (const secret of ['mlt_secret', 'planted-variable', LOGIN.registryPassword]) expect(seen).not.toContain(secret);
  });

  it('that is repeated after the container has ended starts it no second time', async () => {
    const scene = openScene();
    await created(scene);
    await scene.clock.advance(10_000);
    const { all, finish } = containersOf(scene);
    const [group] = all;
    if (group) finish(group, 0);
    const again = await created(scene);

    expect(again.map(({ fault }) => fault)).toEqual([undefined]);
    expect(all.map((one) => [one.starts, stateOf(one, scene.clock.now())])).toEqual([[1, 'Terminated']]);
  });

  it('that comes upon the same group in transition has made it', async () => {
    const scene = openScene();
    const [one, other] = [openInContainers(scene), openInContainers(scene, {}, contextIn(scene))];
    const backends = await Promise.all([one, other]);
    const answers = await scene.during(Promise.all(backends.map((each) => each.create(aBatch(1), going()))));

    expect(answers.flat().map(({ fault }) => fault)).toEqual([undefined, undefined]);
    expect(containersOf(scene).all.map(({ starts }) => starts)).toEqual([1]);
    expect(scene.fake.calls.flatMap(({ action, outcome }) => (action === PUT ? [outcome] : []))).toEqual([
      'ok',
      'ContainerGroupTransitioning',
    ]);
  });

  it('takes a group of that name for its own only where it was made for the same owner', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    await created(scene, {}, { ...launch, mark: { ...launch.mark, owner: 'pool2' } });
    const [outcome] = await created(scene, {}, launch);

    expect(outcome?.fault).toMatchObject({ kind: 'invalid' });
    expect(containersOf(scene).all.map(({ starts }) => starts)).toEqual([1]);
  });
});

describe('a refusal', () => {
  it.each([
    ['an image that no registry has', { image: 'velda.azurecr.io/other:1' }, 'push'],
    ['a private image without a login', PRIVATE, 'registry_username'],
    ['a private image with a wrong login', { ...PRIVATE, ...LOGIN, registryPassword: 'other' }, 'registry_password'],
  ])('of %s says what to do', async (_what, config, remedy) => {
    const fault = await faultOf(config);

    expect(fault).toMatchObject({ kind: 'invalid', message: expect.stringContaining('InaccessibleImage') });
    expect(fault?.remedy).toContain(remedy);
    expect(String(fault?.cause)).not.toContain(LOGIN.registryPassword);
  });

  it('of a location that is mistyped names the nearest', async () => {
    expect(await faultOf({ location: 'West Eurpe' })).toMatchObject({
      kind: 'invalid',
      remedy: expect.stringContaining('did you mean "westeurope"?'),
    });
  });

  it('of a group that is not there says how to make it', async () => {
    expect(await faultOf({ resourceGroup: 'nowhere' })).toMatchObject({
      kind: 'missing',
      remedy: expect.stringContaining('az group create --name nowhere --location westeurope'),
    });
  });

  it.each<readonly [string, (scene: AzureScene) => void, string, string]>([
    [
      'a location that is full',
      (scene) => void containersOf(scene).full.add('westeurope'),
      'exhausted',
      'another location',
    ],
    [
      'a quota that is used up',
      (scene) => {
        containersOf(scene).settings.cores = 0;
      },
      'quota',
      'quota of container instances',
    ],
    [
      'a right that is missing',
      (scene) => void scene.fake.world.denied.add('Microsoft.ContainerInstance/containerGroups/write'),
      'denied',
      'the page of the provider azure',
    ],
    [
      'a registry that limits pulls',
      ({ fake }) =>
        void fake.failureRules.add({
          action: PUT,
          what: { kind: 'error', code: 'RegistryErrorResponse', message: 'toomanyrequests', status: 409 },
        }),
      'exhausted',
      'Wait',
    ],
    [
      'a provider that is not registered',
      ({ fake }) =>
        void fake.failureRules.add({
          action: PUT,
          what: { kind: 'error', code: 'MissingSubscriptionRegistration', message: 'Not registered.', status: 409 },
        }),
      'denied',
      'Microsoft.ContainerInstance',
    ],
  ])('for %s', async (_what, prepare, kind, remedy) => {
    const fault = await faultOf({}, prepare);

    expect(fault?.kind).toBe(kind);
    expect(fault?.remedy).toContain(remedy);
  });

  it('that only says to wait is sent again no sooner than Azure says', async () => {
    const scene = openScene();
    scene.fake.failureRules.add({ action: PUT, what: { kind: 'throttle' } });
    const backend = await openInContainers(scene);
    const [first] = await scene.during(backend.create(aBatch(1), going()));
    await scene.during(backend.create(aBatch(1), going()));
    const [firstMs = 0, secondMs = 0] = scene.fake.calls.flatMap(({ action, atMs }) => (action === PUT ? [atMs] : []));

    expect(first?.fault).toMatchObject({ kind: 'throttled', retryAfterMs: 1_000 });
    expect(secondMs - firstMs).toBeGreaterThanOrEqual(1_000);
  });
});

describe('a configuration', () => {
  const place = { subscriptionId: '00000000-0000-0000-0000-000000000001', resourceGroup: 'g', location: 'eastus' };
  const problemsOf = (config: object): readonly string[] =>
    ContainerInstanceConfig.safeParse({ ...place, image: 'a/b', ...config }).error?.issues.map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    ) ?? [];

  it.each([
    [{}, []],
    [LOGIN, []],
    [{ registryUsername: 'velda' }, ['registryUsername: has no effect without registry_password']],
    [{ registryPassword: 'secret' }, ['registryPassword: has no effect without registry_username']],
    [{ containerName: 'a--b' }, [expect.stringContaining('containerName: must have only small letters')]],
    [{ cpus: 0 }, [expect.stringContaining('cpus')]],
  ])('with %j has the problems %j', (config, problems) => {
    expect(problemsOf(config)).toEqual(problems);
  });
});
