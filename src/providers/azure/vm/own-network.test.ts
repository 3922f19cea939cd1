// A machine whose configuration names no subnet gets a network of its own; in the end nothing of it is left.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Boot, Launch, Machine, Outcome } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aLaunchWith } from '../../../conformance/backend-world.ts';
import { createdBy } from '../../../conformance/scene.ts';
import { addVersion } from '../fake/compute/galleries.ts';
import {
  type AzureScene,
  computeOf,
  contextIn,
  OWN_NETWORK,
  openBackend,
  openScene,
  remainsIn,
} from '../fake/testing.ts';

const NAME = 'm-dev-c1-0123456789';
const PUT = 'management.vmPut';
const PARTS = [NAME, `${NAME}-nic`, `${NAME}-ip`, `${NAME}-os`];
const MACHINE: Machine = { name: NAME, mark: aLaunchWith({}, NAME).mark, createdAt: 0, state: 'running' };

const launchOf = (boot: Partial<Boot> = {}): Launch => {
  const launch = aLaunchWith({ port: 8_000 }, NAME);
  return { ...launch, mark: { ...launch.mark, use: 'computer' }, boot: { ...launch.boot, ...boot } };
};

/** A server that has just been started. */
const open = (scene: AzureScene, config: object = {}): Promise<Backend> =>
  openBackend(scene, { ...OWN_NETWORK, ...config }, contextIn(scene));

const list = (scene: AzureScene, backend: Backend) => scene.during(backend.list(going()));

/** Deletes as the program does: until two listings do not show it. */
async function removed(scene: AzureScene, backend: Backend): Promise<void> {
  for (let missed = 0, round = 0; missed < 2 && round < 20; round++) {
    const machines = await list(scene, backend).catch(() => [MACHINE]);
    missed = round > 0 && machines.length === 0 ? missed + 1 : 0;
    if (missed === 0) await scene.during(backend.delete([MACHINE], going())).catch(() => []);
    await scene.clock.advance(10_000);
  }
}

/** Creates as the program does: what is unclear is repeated. */
async function created(scene: AzureScene, backend: Backend, launch = launchOf()): Promise<readonly Outcome[]> {
  for (let call = 1; ; call++) {
    try {
      const outcomes = await createdBy(scene, backend, launch);
      if (outcomes.length > 0) return outcomes;
    } catch (thrown) {
      if (call === 5) throw thrown;
    }
    await scene.clock.advance(10_000);
  }
}

describe('a machine without a subnet', () => {
  it('is made in a network of its own, with a public address and the same mark, and nothing is open', async () => {
    const scene = openScene();
    await created(scene, await open(scene));
    const { networks, vms } = computeOf(scene);
    const [network] = networks.all;

    expect(remainsIn(computeOf(scene))).toEqual([...PARTS, `${NAME}-net`]);
    expect(network?.tags).toEqual({ ...vms[0]?.tags });
    expect(network?.tags).toMatchObject({ 'muster-computer': 'pool1', 'muster-port': '8000', 'muster-network': 'own' });
  });

  it('has a security group that opens its port where it has no server to join, and the address is shown first', async () => {
    const scene = openScene();
    const backend = await open(scene);
    await created(scene, backend, launchOf({ token: '' }));
    await scene.clock.advance(10_000);
    const { networks, parts } = computeOf(scene);
    const [address] = parts.filter(({ type }) => type === 'publicIPAddresses');

    expect(networks.all.map(({ name }) => name)).toEqual([`${NAME}-net`, `${NAME}-nsg`]);
    expect(networks.all[1]?.properties.securityRules).toMatchObject([
      { properties: { direction: 'Inbound', access: 'Allow', destinationPortRange: '8000' } },
    ]);
    expect((await list(scene, backend))[0]?.endpoints?.[0]).toEqual({ host: address?.ip, port: 8_000 });

    await removed(scene, backend);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('takes its network with it, in one call', async () => {
    const scene = openScene();
    const backend = await open(scene);
    await created(scene, backend);
    expect(await scene.during(backend.delete([MACHINE], going()))).toEqual([{ name: NAME }]);

    expect(remainsIn(computeOf(scene))).toEqual([]);
    expect(await list(scene, backend)).toEqual([]);
  });

  it.each([
    ['SkuNotAvailable', 'exhausted', 409],
    ['OperationNotAllowed', 'quota', 409],
    ['AuthorizationFailed', 'denied', 403],
    ['TooManyRequests', 'throttled', 429],
  ])('that Azure refuses (%s) leaves nothing, and says so in the words of Azure', async (code, kind, status) => {
    const scene = openScene();
    const message = 'It results in exceeding approved Cores quota.';
    scene.fake.failureRules.add({ action: PUT, times: 10, what: { kind: 'error', code, message, status } });
    const [outcome] = await scene.during((await open(scene)).create(launchOf(), going()));

    expect(outcome?.fault).toMatchObject({ kind, message: expect.stringContaining(code) });
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('whose network Azure agrees to and cannot make is refused, and leaves nothing', async () => {
    const scene = openScene();
    computeOf(scene).settings.lateNetworks = 1;
    const [outcome] = await scene.during((await open(scene)).create(launchOf(), going()));

    expect(outcome?.fault?.message).toBe(`The creation of ${NAME}-net failed in Azure.`);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('that is refused late leaves nothing once it is deleted', async () => {
    const scene = openScene();
    computeOf(scene).settings.late = 1;
    const backend = await open(scene);
    const [outcome] = await created(scene, backend);
    expect(outcome?.fault).toMatchObject({ kind: 'exhausted', message: expect.stringContaining('AllocationFailed') });

    await removed(scene, backend);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('in a resource group that is not there is refused with the command that makes the group', async () => {
    const scene = openScene();
    const backend = await open(scene, { resourceGroup: 'commandlab', location: 'eastus', vmSize: 'Standard_DS1_v2' });
    const [outcome] = await scene.during(backend.create(launchOf(), going()));

    expect(outcome?.fault).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining("Resource group 'commandlab' could not be found."),
      remedy: 'Create it (az group create --name commandlab --location eastus), or correct resource_group.',
    });
  });

  it('is made with the defaults of the platform, and of an image of the subscription', async () => {
    const scene = openScene();
    const ofGallery = `/subscriptions/${computeOf(scene).subscriptionId}/resourceGroups/velda/providers/Microsoft.Compute/galleries/g/images/i`;
    const version = { image: ofGallery, name: '1.0.0', regions: ['eastus'] };
    const { id: image } = addVersion(computeOf(scene).references.galleries, version);
    const usual = { resourceGroup: 'commandlab-rg', location: 'eastus', vmSize: 'Standard_DS1_v2' };
    for (const more of [{}, { image }]) {
      const backend = await open(scene, { ...usual, ...more });
      expect(await created(scene, backend)).toEqual([{ name: NAME }]);
      await removed(scene, backend);
    }
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });
});

// Each call of a machine's life, and some more.
const CALLS = Array.from({ length: 12 }, (_, at) => at);

describe.each(['lost reply', 'lost request', 'garbage'] as const)('with a %s', (kind) => {
  it.each(CALLS)('at call %i the machine is made once, and goes with all that was made for it', async (after) => {
    const scene = openScene();
    const backend = await open(scene);
    scene.fake.failureRules.add({ service: 'management', after, what: { kind } });
    await created(scene, backend, launchOf({ token: '' }));
    scene.fake.failureRules.clear();
    expect(computeOf(scene).vms).toHaveLength(1);
    expect(remainsIn(computeOf(scene))).toEqual([...PARTS, `${NAME}-net`, `${NAME}-nsg`]);

    scene.fake.failureRules.add({ service: 'management', after, what: { kind } });
    await removed(scene, backend);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });
});

describe('with a refusal', () => {
  const refusal = { kind: 'error', code: 'AuthorizationFailed', status: 403 } as const;

  it.each(CALLS)('at call %i a creation is made or leaves nothing', async (after) => {
    const scene = openScene();
    const backend = await open(scene);
    scene.fake.failureRules.add({ service: 'management', after, what: refusal });
    const [outcome] = await created(scene, backend, launchOf({ token: '' }));

    const made = outcome?.fault ? [] : [...PARTS, `${NAME}-net`, `${NAME}-nsg`];
    expect(remainsIn(computeOf(scene))).toEqual(made);
  });

  const isNetwork = ({ path }: { readonly path: string }): boolean => path.includes('/virtualNetworks/');

  it.each([1, 2])(
    'of look %i at the network that was made, a machine that is refused leaves nothing',
    async (after) => {
      const scene = openScene();
      const backend = await open(scene);
      scene.fake.failureRules.add({
        action: PUT,
        times: 9,
        what: { kind: 'error', code: 'SkuNotAvailable', status: 409 },
      });
      scene.fake.failureRules.add({ action: 'management.partGet', after, what: refusal, when: isNetwork });
      const [outcome] = await created(scene, backend);

      expect(outcome?.fault).toBeDefined();
      expect(remainsIn(computeOf(scene))).toEqual([]);
    },
  );

  it('a creation without the right to read networks is refused for that, and makes nothing', async () => {
    const scene = openScene();
    const backend = await open(scene);
    scene.fake.failureRules.add({ action: 'management.partGet', times: 99, what: refusal, when: isNetwork });
    const [outcome] = await scene.during(backend.create(launchOf(), going()));

    expect(outcome?.fault).toMatchObject({ kind: 'denied' });
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it.each(CALLS)('at call %i of its deletion a machine goes with all that was made for it', async (after) => {
    const scene = openScene();
    const backend = await open(scene);
    await created(scene, backend, launchOf({ token: '' }));
    scene.fake.failureRules.add({ service: 'management', after, what: refusal });
    await removed(scene, backend);

    expect(remainsIn(computeOf(scene))).toEqual([]);
  });
});

describe.each([false, true])('when the server is dropped at a call (carried out: %s)', (done) => {
  /** The server stops at that call; the next one goes on. */
  async function dropped(scene: AzureScene, after: number, call: (backend: Backend) => Promise<unknown>) {
    const backend = await open(scene);
    const forget = scene.fake.failureRules.add({
      service: 'management',
      after,
      times: 1_000,
      what: { kind: 'hang', done },
    });
    const stopping = new AbortController();
    const ended = call({ ...backend, create: (launch) => backend.create(launch, stopping.signal) }).catch(Fault.from);
    await scene.clock.advance(MINUTE_MS);
    stopping.abort(new Fault('unavailable', 'stopped'));
    await scene.clock.advance(1_000);
    forget();
    await ended;
  }

  it.each(CALLS.slice(0, 8))('%i of the creation, the next server makes the machine once', async (after) => {
    const scene = openScene();
    await dropped(scene, after, (backend) => backend.create(launchOf({ token: '' }), going()));
    const backend = await open(scene);
    await created(scene, backend, launchOf({ token: '' }));

    expect(computeOf(scene).vms).toHaveLength(1);
    await removed(scene, backend);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it.each(CALLS.slice(0, 8))('%i of the creation, the next server can also delete what there is', async (after) => {
    const scene = openScene();
    await dropped(scene, after, (backend) => backend.create(launchOf({ token: '' }), going()));
    await removed(scene, await open(scene));

    expect(remainsIn(computeOf(scene))).toEqual([]);
  });
});

describe('what is left of a machine', () => {
  it('that somebody deleted in Azure is listed as failed until its network is deleted too', async () => {
    const scene = openScene();
    const backend = await open(scene);
    await created(scene, backend);
    await scene.clock.advance(10_000);
    await list(scene, backend);
    const { vms, end } = computeOf(scene);
    for (const vm of vms) end(vm);
    await scene.clock.advance(10_000);
    const machines = await list(scene, backend);

    expect(machines).toMatchObject([
      {
        name: NAME,
        state: 'failed',
        trouble: { message: expect.stringContaining('the network that was made for it') },
      },
    ]);
    await scene.during(backend.delete(machines, going()));
    expect([await list(scene, backend), remainsIn(computeOf(scene))]).toEqual([[], []]);
  });

  it('by an earlier server is found at the second look, and not before: a network is older than its machine', async () => {
    const scene = openScene();
    await created(scene, await open(scene));
    const { vms, end } = computeOf(scene);
    for (const vm of vms) end(vm);
    await scene.clock.advance(MINUTE_MS);
    const backend = await open(scene);
    expect(await list(scene, backend)).toEqual([]);
    await scene.clock.advance(5 * MINUTE_MS);
    const machines = await list(scene, backend);

    expect(machines.map(({ name }) => name)).toEqual([NAME]);
    await scene.during(backend.delete(machines, going()));
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('whose interface stayed behind goes all the same, step by step', async () => {
    const scene = openScene();
    const backend = await open(scene);
    await created(scene, backend);
    computeOf(scene).settings.strands = 1;
    await removed(scene, backend);

    expect(remainsIn(computeOf(scene))).toEqual([]);
  });
});

it('a computer that shut itself down is listed as suspended: Azure bills it until it is deleted', async () => {
  const scene = openScene();
  const backend = await open(scene);
  await created(scene, backend);
  const { vms, stop } = computeOf(scene);
  for (const vm of vms) stop(vm);
  await scene.clock.advance(MINUTE_MS);
  expect(await list(scene, backend)).toMatchObject([{ name: NAME, state: 'suspended' }]);

  await removed(scene, backend);
  expect(remainsIn(computeOf(scene))).toEqual([]);
});
