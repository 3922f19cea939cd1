import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { serveFake } from '#fakes/serve.ts';
import { openStore } from '../../src/providers/azure/fake/app-configuration/store.ts';
import { openFakeAzure } from '../../src/providers/azure/fake/fake-azure.ts';
import { ONLY_STORE } from '../../src/providers/azure/fake/read-call.ts';
import { addSet, SET } from '../../src/providers/azure/fake/testing.ts';
import azure from '../../src/providers/azure/index.ts';
import { npmClients } from './parts/npm-clients.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-azure.mjs');
const CLIENTS = ['@azure/arm-compute@24.1.0', '@azure/app-configuration@1.12.1'];
const KEY = { id: 'k1', secret: Buffer.from('a secret of nobody').toString('base64') };
const OURS = 'm-gpu-ours';
const DRIVE_PYTHON = join(import.meta.dirname, 'parts', 'drive-azure.py');
const TOKEN = 'a token for an hour';
const going = (): AbortSignal => new AbortController().signal;

test("Azure's own clients make, list and delete machines and key-values of the simulated Azure", async (context) => {
  const { folder } = needed(context, await npmClients('azure', CLIENTS));
  const fake = openFakeAzure(systemClock, { bootMs: 300, lagMs: 0, pageSize: 2 });
  const { world } = fake;
  const store = openStore(ONLY_STORE, systemClock);
  store.accessKeys.set(KEY.id, KEY.secret);
  world.stores.set(ONLY_STORE, store);
  // Machines for everybody, but key-values only for those who sign.
  const served = await serveFake(
    (request) => {
      world.isOpen = !new URL(request.url).pathname.startsWith('/kv');
      return fake.handle(request);
    },
    { port: 0 },
  );
  context.onTestFinished(() => served.close());
  const { address } = served;
  const { azure_vm: kind } = azure.backends;
  const parts: Context = {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
  };
  const machine = { resourceGroup: 'velda', location: 'westeurope', vmSize: 'Standard_NC4as_T4_v3' };
  const more = { subnetId: 'velda-network/agents', publicIp: true, market: 'spot', spotMaxPrice: 0.5, diskSizeGb: 64 };
  const config = kind.config.parse({ subscriptionId: world.subscriptionId, ...machine, ...more, endpoint: address });
  const backend = await kind.open(config, parts);
  const mark = { cluster: 'cluster1', use: 'worker', owner: 'pool1', shape: 's1' } as const;
  await backend.create(
    { id: 'l1', mark, names: [OURS], boot: { agentConfig: 'pool: gpu\n', token: 'mlt_x' }, askedAt: 0 },
    going(),
  );
  world.compute.stock.set('Standard_F8s_v2', 1);
  const watch = world.compute.watch((vm) => {
    if (vm.name === 'ref-1') world.compute.settings.late = 1;
  });
  context.onTestFinished(watch);

  const connection = `Endpoint=${address};Id=${KEY.id};Secret=${KEY.secret}`;
  const ran = await run(process.execPath, [DRIVE, folder, address, world.subscriptionId, connection, OURS], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  const seen = JSON.parse(ran.out);
  expect(seen.store).toEqual({
    pages: [['ref/a', 'ref/b'], ['ref/c']],
    again: [304, 304],
    value: 'text a',
    unchanged: 304,
    refused: 412,
    missing: 404,
    labelled: 'labelled',
  });
  expect(seen.compute).toMatchObject({
    made: ['ref-1', 'Succeeded', { from: 'referee' }],
    listed: [OURS, 'ref-1'],
    power: ['ProvisioningState/succeeded', 'PowerState/running'],
    twice: [412, 'PreconditionFailed'],
    badSize: [400, 'InvalidParameter'],
    late: expect.stringContaining('AllocationFailed'),
    missing: [404, 'ResourceNotFound'],
    sizes: ['Standard_D2s_v5', 'Standard_D4s_v5', 'Standard_D4ps_v5', 'Standard_A2_v2', 'Standard_F8s_v2'],
    sets: 0,
    gone: [404, 'ResourceNotFound'],
    disks: [`${OURS}-os`],
    // What we send means to Azure's client what we mean.
    ours: {
      tags: { 'muster-cluster': 'cluster1', 'muster-name': OURS },
      priority: 'Spot',
      evictionPolicy: 'Delete',
      billingProfile: { maxPrice: 0.5 },
      hardwareProfile: { vmSize: 'Standard_NC4as_T4_v3' },
      storageProfile: {
        osDisk: { name: `${OURS}-os`, createOption: 'FromImage', deleteOption: 'Delete', diskSizeGB: 64 },
      },
      osProfile: {
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: { publicKeys: [{ keyData: expect.stringMatching(/^ssh-ed25519 /) }] },
        },
      },
      networkProfile: {
        networkInterfaceConfigurations: [
          {
            name: `${OURS}-nic`,
            deleteOption: 'Delete',
            tags: { 'muster-name': OURS },
            ipConfigurations: [
              {
                subnet: { id: expect.stringContaining('/virtualNetworks/velda-network/subnets/agents') },
                publicIPAddressConfiguration: { deleteOption: 'Delete', sku: { name: 'Standard' } },
              },
            ],
          },
        ],
      },
    },
  });
});

test("Azure's client for Python makes, pages and deletes machines and scale sets, and reads what Muster made", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const fake = openFakeAzure(systemClock, { bootMs: 300, lagMs: 0, pageSize: 2 });
  const { world } = fake;
  world.granted.set(TOKEN, { who: 'referee', resource: 'https://management.azure.com', expiresAt: Number.MAX_VALUE });
  addSet(world.compute);
  const served = await serveFake(fake.handle, { port: 0 });
  context.onTestFinished(() => served.close());
  const { address } = served;
  const parts: Context = {
    ...{ cluster: 'cluster1', clock: systemClock, random: systemRandom, log: silentLog, fetch, shared: openShared() },
    ...{ dataDir: '/nowhere', agentCommand: [] },
  };
  const mark = { cluster: 'cluster1', use: 'worker', owner: 'pool1', shape: 's1' } as const;
  const boot = { agentConfig: 'pool: gpu\n', token: 'mlt_x' };
  const { azure_vm: single, azure_vmss: inSet } = azure.backends;
  const place = { subscriptionId: world.subscriptionId, resourceGroup: 'velda', endpoint: address };
  const more = { location: 'westeurope', vmSize: 'Standard_D2s_v5', subnetId: 'velda-network/agents', market: 'spot' };
  world.isOpen = true;
  const alone = await single.open(single.config.parse({ ...place, ...more }), parts);
  await alone.create({ id: 'l1', mark, names: ['m-alone'], boot, askedAt: 0 }, going());
  const grouped = await inSet.open(inSet.config.parse({ ...place, vmssName: SET }), parts);
  await grouped.create({ id: 'l2', mark, names: ['m-in-set'], boot, askedAt: 0 }, going());
  world.isOpen = false;

  const words = [DRIVE_PYTHON, address, world.subscriptionId, TOKEN, 'm-alone', 'm-in-set'];
  const ran = await run(program('python'), words, { env: { ...process.env } as Record<string, string> });

  expect(ran.code, complaintOf(ran)).toBe(0);
  const { machines, sets } = JSON.parse(ran.out);
  expect(machines).toEqual({
    made: ['py-1', 'Succeeded', 'referee', true],
    pages: [2, 1],
    listed: ['m-alone', 'm-in-set', 'py-1'],
    power: ['ProvisioningState/succeeded', 'PowerState/running'],
    badSize: [400, 'InvalidParameter'],
    badSubnet: [400, 'InvalidResourceReference'],
    badField: [400, 'BadRequest'],
    badGroup: [404, 'ResourceGroupNotFound'],
    missing: [404, 'ResourceNotFound'],
    wrongToken: [401, 'InvalidAuthenticationToken'],
    noToken: [401, 'AuthenticationFailed'],
    ours: {
      cluster: 'cluster1',
      size: 'Standard_D2s_v5',
      priority: 'Spot',
      disk: ['m-alone-os', 'Delete'],
      key: 'ssh-ed25519 ',
      interface: ['m-alone-nic', 'Delete'],
      subnet: true,
      set: SET,
    },
    gone: [404, 'ResourceNotFound'],
  });
  expect(sets).toEqual({
    made: ['py-set', 2, 'Succeeded', 'Flexible'],
    listed: ['py-set', SET],
    machines: ['py-set', 'py-set'],
    badMode: [400, 'InvalidParameter'],
    missing: [404, 'ResourceNotFound'],
    gone: [404, 'ResourceNotFound'],
  });
});
