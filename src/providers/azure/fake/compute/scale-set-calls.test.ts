import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { GROUP_URL, networkProfile } from '../asking.ts';
import { openFakeAzure } from '../fake-azure.ts';
import { PUBLIC_KEY } from './scale-sets.ts';

const SET_URL = `${GROUP_URL}/providers/Microsoft.Compute/virtualMachineScaleSets/agents`;

interface Shown {
  readonly name: string;
  readonly sku?: { readonly capacity: number };
  readonly properties: {
    readonly provisioningState: string;
    readonly virtualMachineScaleSet?: { readonly id: string };
  };
  readonly value?: readonly Shown[];
  readonly error?: { readonly code: string; readonly message: string };
}

function openAzure() {
  const clock = new VirtualClock();
  const fake = openFakeAzure(clock, { lagMs: 0 });
  fake.world.isOpen = true;
  const ask = async (method: string, url: string, body?: object) => {
    const answer = await fake.fetch(`${url}?api-version=2026-03-01`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, shown: (text === '' ? {} : JSON.parse(text)) as Shown };
  };
  return { clock, fake, ask };
}

const setOf = (changes: { sku?: object; mode?: string; profile?: object } = {}): object => ({
  location: 'westeurope',
  sku: { name: 'Standard_D2s_v5', capacity: 0, ...changes.sku },
  properties: {
    orchestrationMode: changes.mode ?? 'Flexible',
    platformFaultDomainCount: 1,
    virtualMachineProfile: {
      storageProfile: {
        imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' },
        osDisk: { createOption: 'FromImage', deleteOption: 'Delete' },
      },
      osProfile: {
        computerNamePrefix: 'agents',
        adminUsername: 'azureuser',
        linuxConfiguration: {
          ssh: { publicKeys: [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: PUBLIC_KEY }] },
        },
      },
      networkProfile: networkProfile(),
      ...changes.profile,
    },
  },
});

it('a flexible scale set is made, makes its machines, counts them, and takes them along when it is deleted', async () => {
  const { clock, ask } = openAzure();
  const made = await ask('PUT', SET_URL, setOf({ sku: { capacity: 2 } }));
  const making = await ask('GET', SET_URL);
  await clock.advance(10_000);
  const ready = await ask('GET', SET_URL);
  const listed = await ask('GET', `${GROUP_URL}/providers/Microsoft.Compute/virtualMachineScaleSets`);
  const inSet = await ask('GET', `${SET_URL}/virtualMachines`);
  const all = await ask('GET', `${GROUP_URL}/providers/Microsoft.Compute/virtualMachines`);
  const removed = await ask('DELETE', SET_URL);
  await clock.advance(10_000);
  const left = await ask('GET', `${GROUP_URL}/providers/Microsoft.Compute/virtualMachines`);

  expect([made.status, made.shown.name, making.shown.properties.provisioningState]).toEqual([
    201,
    'agents',
    'Creating',
  ]);
  expect([ready.shown.sku?.capacity, ready.shown.properties.provisioningState]).toEqual([2, 'Succeeded']);
  expect(listed.shown.value?.map(({ name }) => name)).toEqual(['agents']);
  expect(inSet.shown.value?.map(({ name }) => name)).toEqual(all.shown.value?.map(({ name }) => name));
  expect(all.shown.value?.map(({ name }) => name)).toEqual([
    expect.stringMatching(/^agents_[0-9a-f]{8}$/),
    expect.stringMatching(/^agents_[0-9a-f]{8}$/),
  ]);
  expect(all.shown.value?.[0]?.properties.virtualMachineScaleSet?.id).toBe(new URL(SET_URL).pathname);
  expect([removed.status, left.shown.value, (await ask('GET', SET_URL)).status]).toEqual([202, [], 404]);
  expect((await ask('DELETE', SET_URL)).status).toBe(204);
});

it('a scale set that exists is changed, not made anew', async () => {
  const { ask } = openAzure();
  await ask('PUT', SET_URL, setOf());
  const changed = await ask('PUT', SET_URL, setOf({ sku: { name: 'Standard_D4s_v5' } }));

  expect([changed.status, changed.shown.sku]).toEqual([200, { name: 'Standard_D4s_v5', capacity: 0 }]);
});

it.each([
  ['an unknown size', { sku: { name: 'Standard_X' } }, 400, 'InvalidParameter'],
  ['an unknown image', { profile: { storageProfile: { imageReference: { id: '/x' } } } }, 400, 'InvalidParameter'],
  [
    'an unknown subnet',
    { profile: { networkProfile: networkProfile('/subscriptions/s/n') } },
    400,
    'InvalidResourceReference',
  ],
  ['an unknown field', { profile: { vmSize: 'Standard_D2s_v5' } }, 400, 'BadRequest'],
  ['another way of orchestration', { mode: 'Both' }, 400, 'InvalidParameter'],
])('a scale set with %s is refused', async (_what, changes, status, code) => {
  const { ask } = openAzure();
  const refused = await ask('PUT', SET_URL, setOf(changes));

  expect([refused.status, refused.shown.error?.code]).toEqual([status, code]);
  expect((await ask('GET', SET_URL)).status).toBe(404);
});
