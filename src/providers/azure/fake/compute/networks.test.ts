import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openRequestCheck } from '#fakes/check-request.ts';
import { GROUP_URL, networkProfile, VM_URL, vmBody } from '../asking.ts';
import { definition } from '../definition.gen.ts';
import { openFakeAzure } from '../fake-azure.ts';

const GROUP = new URL(GROUP_URL).pathname;
const NETWORK = `${GROUP_URL}/providers/Microsoft.Network/virtualNetworks/own`;
const SECURITY = `${GROUP_URL}/providers/Microsoft.Network/networkSecurityGroups/own`;
const SUBNET = `${GROUP}/providers/Microsoft.Network/virtualNetworks/own/subnets/machines`;
const SECURITY_ID = `${GROUP}/providers/Microsoft.Network/networkSecurityGroups/own`;
const IN_IT = vmBody({
  networkProfile: networkProfile(SUBNET, { deleteOption: 'Delete', networkSecurityGroup: { id: SECURITY_ID } }),
});

const subnet = (name: string) => ({ name, properties: { addressPrefix: '10.0.0.0/28' } });
const networkBody = (subnets: readonly object[] = [subnet('machines')]) => ({
  location: 'westeurope',
  properties: { addressSpace: { addressPrefixes: ['10.0.0.0/28'] }, subnets },
});

interface Answered {
  readonly name?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly value?: readonly Answered[];
  readonly status?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

function openScene() {
  const clock = new VirtualClock();
  const fake = openFakeAzure(clock, { lagMs: 1_000 });
  fake.world.isOpen = true;
  const ask = async (method: string, url: string, body?: object) => {
    const target = new URL(url);
    target.searchParams.set('api-version', '2026-03-01');
    const answer = await fake.fetch(target, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const answered: Answered = text === '' ? {} : JSON.parse(text);
    return { status: answer.status, code: answered.error?.code, headers: answer.headers, body: answered };
  };
  /** A network and a security group that are ready. */
  const prepare = async (): Promise<void> => {
    await ask('PUT', NETWORK, networkBody());
    await ask('PUT', SECURITY, { location: 'westeurope' });
    await clock.advance(5_000);
  };
  return { clock, fake, ask, prepare };
}

it('a network of the fake Azure is ready some time after it was put, and listed later than it is shown', async () => {
  const { clock, ask } = openScene();
  const made = await ask('PUT', NETWORK, networkBody());
  const operation = made.headers.get('azure-asyncoperation') ?? '';
  const soon = await ask('GET', operation);
  const listedSoon = await ask('GET', NETWORK.replace('/own', ''));
  const twice = await ask('PUT', NETWORK, networkBody());
  await clock.advance(2_000);

  expect([made.status, made.body.properties?.provisioningState, soon.body.status]).toEqual([
    201,
    'Updating',
    'InProgress',
  ]);
  expect(operation).toContain('/Microsoft.Network/locations/');
  expect([twice.status, twice.code]).toEqual([429, 'RetryableError']);
  expect(listedSoon.body.value).toEqual([]);
  expect((await ask('GET', operation)).body.status).toBe('Succeeded');
  expect((await ask('GET', NETWORK)).body.properties).toMatchObject({ provisioningState: 'Succeeded' });
  expect((await ask('GET', NETWORK.replace('/own', ''))).body.value).toMatchObject([{ name: 'own' }]);
  expect(await ask('PUT', NETWORK, networkBody())).toMatchObject({ status: 200 });
});

it('a machine of the fake Azure is refused in a network that is not ready, or not there', async () => {
  const { clock, ask } = openScene();
  const absent = await ask('PUT', VM_URL, IN_IT);
  await ask('PUT', SECURITY, { location: 'westeurope' });
  await clock.advance(5_000);
  await ask('PUT', NETWORK, networkBody());
  const early = await ask('PUT', VM_URL, IN_IT);
  await clock.advance(5_000);

  expect([absent.code, early.code]).toEqual(['InvalidResourceReference', 'ReferencedResourceNotProvisioned']);
  expect(await ask('PUT', VM_URL, IN_IT)).toMatchObject({ status: 201 });
});

it('a network and a security group of the fake Azure cannot be deleted while an interface is in them', async () => {
  const { clock, ask, prepare } = openScene();
  await prepare();
  await ask('PUT', VM_URL, IN_IT);
  await clock.advance(5_000);
  const refused = [await ask('DELETE', NETWORK), await ask('DELETE', SECURITY)];
  const shrunk = await ask('PUT', NETWORK, networkBody([subnet('others')]));
  const used = await ask('GET', SECURITY);
  await ask('DELETE', VM_URL);
  await clock.advance(5_000);
  const agreed = [await ask('DELETE', NETWORK), await ask('DELETE', SECURITY)];
  const during = await ask('GET', NETWORK);
  await clock.advance(5_000);

  expect(refused.map(({ status, code }) => [status, code])).toEqual([
    [400, 'InUseSubnetCannotBeDeleted'],
    [400, 'InUseNetworkSecurityGroupCannotBeDeleted'],
  ]);
  expect(shrunk.code).toBe('InUseSubnetCannotBeDeleted');
  expect(used.body.properties?.networkInterfaces).toEqual([
    { id: expect.stringContaining('/networkInterfaces/m-1-nic') },
  ]);
  expect(agreed.map(({ status }) => status)).toEqual([202, 202]);
  expect(during.body.properties?.provisioningState).toBe('Deleting');
  expect((await ask('GET', NETWORK)).code).toBe('ResourceNotFound');
  expect((await ask('DELETE', NETWORK)).status).toBe(204);
});

it('a network of the fake Azure can fail after it was promised', async () => {
  const { clock, fake, ask } = openScene();
  fake.world.compute.settings.lateNetworks = 1;
  const { headers } = await ask('PUT', NETWORK, networkBody());
  await clock.advance(5_000);
  const ended = await ask('GET', headers.get('azure-asyncoperation') ?? '');

  expect(ended.body).toMatchObject({ status: 'Failed', error: { code: 'InternalServerError' } });
  expect((await ask('GET', NETWORK)).body.properties?.provisioningState).toBe('Failed');
  expect((await ask('PUT', NETWORK, networkBody())).status).toBe(200);
});

it.each([
  ['a place that Azure does not have', { ...networkBody(), location: 'west' }, 'LocationNotAvailableForResourceType'],
  ['no addresses', { location: 'westeurope', properties: {} }, 'InvalidRequestFormat'],
  ['a subnet without addresses', networkBody([{ name: 'machines', properties: {} }]), 'NetcfgInvalidSubnet'],
  ['an unknown field', { ...networkBody(), zones: ['1'] }, 'InvalidRequestContent'],
])('the fake Azure refuses a network with %s', async (_what, body, code) => {
  expect(await openScene().ask('PUT', NETWORK, body)).toMatchObject({ status: 400, code });
});

it('what the fake Azure shows of networks has no field that the models do not have', async () => {
  const { ask, prepare } = openScene();
  await prepare();
  await ask('PUT', VM_URL, IN_IT);
  const check = openRequestCheck(definition);
  const query = { 'api-version': '2026-03-01' };

  expect(check('partPut virtualNetworks', { query, body: (await ask('GET', NETWORK)).body })).toEqual([]);
  expect(check('partPut networkSecurityGroups', { query, body: (await ask('GET', SECURITY)).body })).toEqual([]);
});
