import { expect, it } from 'vitest';
import { ask, GROUP_URL, networkProfile, SUBSCRIPTION_URL, VM_URL, vmBody } from '../asking.ts';
import { PUBLIC_KEY } from './scale-sets.ts';

const put = (body: object) => ask(VM_URL, { method: 'PUT', body });
const groupId = new URL(GROUP_URL).pathname;
const subnetId = (name: string): string => `${groupId}/providers/Microsoft.Network/virtualNetworks/${name}`;
const nicId = `${groupId}/providers/Microsoft.Network/networkInterfaces/m-1-nic`;
const vmId = `${groupId}/providers/Microsoft.Compute/virtualMachines/m-1`;
const securityGroup = (name: string): object => ({
  networkSecurityGroup: { id: `${groupId}/providers/Microsoft.Network/networkSecurityGroups/${name}` },
});
const identity = (name: string): object => ({
  identity: {
    type: 'UserAssigned',
    userAssignedIdentities: {
      [`${groupId}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}`]: {},
    },
  },
});
const imageOf = (imageReference: object): object =>
  vmBody({
    storageProfile: {
      imageReference: { publisher: undefined, ...imageReference },
      osDisk: { createOption: 'FromImage' },
    },
  });
const keyOf = (key: object): object =>
  vmBody({
    osProfile: {
      linuxConfiguration: {
        ssh: { publicKeys: [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: PUBLIC_KEY, ...key }] },
      },
    },
  });
const gone = (id: string, by: string): string =>
  `Resource ${id} referenced by resource ${by} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`;
const ofSku = (sku: string, version = 'latest'): object =>
  vmBody({
    storageProfile: {
      imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku, version },
      osDisk: { createOption: 'FromImage' },
    },
  });
const noPlatformImage = (urn: string): string =>
  `The platform image '${urn}' is not available. Verify that all fields in the storage profile are correct. For more details about storage profile information, please refer to https://aka.ms/storageprofile`;

it.each([
  [
    'a subnet in any case of letters',
    vmBody({ networkProfile: networkProfile(subnetId('VELDA-network/subnets/Agents')) }),
  ],
  ['a security group', vmBody({ networkProfile: networkProfile(undefined, securityGroup('agents')) })],
  ['an identity', vmBody({}, identity('workers'))],
  ['a version of an image', ofSku('server', '24.04.202611010')],
])('the fake Azure accepts %s that exists', async (_what, body) => {
  expect(await put(body)).toEqual([201, '', '']);
});

it.each([
  [
    'an unknown subnet',
    vmBody({ networkProfile: networkProfile(subnetId('velda-network/subnets/agent')) }),
    [400, 'InvalidResourceReference', gone(subnetId('velda-network/subnets/agent'), nicId)],
  ],
  [
    'a subnet of another location',
    vmBody({}, { location: 'eastus' }),
    [400, 'InvalidResourceReference', gone(subnetId('velda-network/subnets/agents'), nicId)],
  ],
  [
    'a subnet that is no id',
    vmBody({ networkProfile: networkProfile('velda-network/agents') }),
    [
      400,
      'LinkedInvalidPropertyId',
      "Property id 'velda-network/agents' at path 'properties.networkProfile.networkInterfaceConfigurations[0].properties.ipConfigurations[0].properties.subnet.id' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.",
    ],
  ],
  [
    'an unknown security group',
    vmBody({ networkProfile: networkProfile(undefined, securityGroup('agnets')) }),
    [
      400,
      'InvalidResourceReference',
      gone(`${groupId}/providers/Microsoft.Network/networkSecurityGroups/agnets`, nicId),
    ],
  ],
  [
    'an unknown interface',
    vmBody({
      networkProfile: {
        networkInterfaceConfigurations: [],
        networkInterfaces: [{ id: `${groupId}/providers/Microsoft.Network/networkInterfaces/none` }],
      },
    }),
    [400, 'InvalidResourceReference', gone(`${groupId}/providers/Microsoft.Network/networkInterfaces/none`, vmId)],
  ],
  [
    'an unknown image of the marketplace',
    ofSku('servr'),
    [404, 'PlatformImageNotFound', noPlatformImage('Canonical:ubuntu-24_04-lts:servr:latest')],
  ],
  [
    'an unknown version of an image',
    ofSku('server', '1.0.0'),
    [404, 'PlatformImageNotFound', noPlatformImage('Canonical:ubuntu-24_04-lts:server:1.0.0')],
  ],
  [
    'an unknown image of the subscription',
    imageOf({ id: `${groupId}/providers/Microsoft.Compute/images/agnet` }),
    [
      400,
      'InvalidParameter',
      `The Image '${groupId}/providers/Microsoft.Compute/images/agnet' cannot be found in 'westeurope' region.`,
    ],
  ],
  [
    'an unknown image of a gallery',
    imageOf({ communityGalleryImageId: '/CommunityGalleries/g/Images/i/Versions/latest' }),
    [
      404,
      'GalleryImageNotFound',
      'The gallery image /CommunityGalleries/g/Images/i/Versions/latest is not available in westeurope region. Please contact image owner to replicate to this region, or change your requested region.',
    ],
  ],
  [
    'an unknown identity',
    vmBody({}, identity('nobody')),
    [
      400,
      'FailedIdentityOperation',
      `Identity operation for resource '${vmId}' failed with error 'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{"error":{"code":"BadRequest","message":"Resource '${groupId}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nobody' was not found."}}'.'.`,
    ],
  ],
  [
    'a key that is none',
    keyOf({ keyData: 'ssh-rsa AAAA' }),
    [400, 'InvalidParameter', 'The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.'],
  ],
  [
    'a key of another user',
    keyOf({ path: '/home/root/.ssh/authorized_keys' }),
    [
      400,
      'InvalidParameter',
      'Destination path for SSH public keys is currently limited to its default value /home/azureuser/.ssh/authorized_keys  due to a known issue in Linux provisioning agent.',
    ],
  ],
  [
    'an unknown scale set',
    vmBody({ virtualMachineScaleSet: { id: `${groupId}/providers/Microsoft.Compute/virtualMachineScaleSets/none` } }),
    [404, 'NotFound', 'The entity was not found in this Azure location.'],
  ],
])('the fake Azure refuses %s', async (_what, body, expected) => {
  expect(await put(body)).toEqual(expected);
});

it.each([
  ['PUT', 'Microsoft.Compute/virtualMachines/m-1', vmBody()],
  ['GET', 'Microsoft.Compute/virtualMachines', undefined],
  ['GET', 'Microsoft.Compute/virtualMachineScaleSets/none', undefined],
  ['GET', 'Microsoft.Network/networkInterfaces', undefined],
])('the fake Azure refuses %s of %s in a resource group that does not exist', async (method, path, body) => {
  const url = `${SUBSCRIPTION_URL}/resourceGroups/nowhere/providers/${path}`;

  expect(await ask(url, { method, body })).toEqual([
    404,
    'ResourceGroupNotFound',
    "Resource group 'nowhere' could not be found.",
  ]);
});

it('the fake Azure names the subscription that does not exist', async () => {
  const url = VM_URL.replace('000000000001', '000000000002');

  expect(await ask(url, {})).toEqual([
    404,
    'SubscriptionNotFound',
    "The subscription '00000000-0000-0000-0000-000000000002' could not be found.",
  ]);
});

it.each([
  ['none', null, 'AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing."],
  ['one that nobody gave', 'made-up', 'InvalidAuthenticationToken', 'The access token is invalid.'],
  [
    'one for another service',
    'of-store',
    'InvalidAuthenticationTokenAudience',
    "The access token has been obtained for wrong audience or resource 'https://azconfig.io'. It should exactly match with one of the allowed audiences 'https://management.core.windows.net/','https://management.core.windows.net','https://management.azure.com/','https://management.azure.com'.",
  ],
  [
    'one that has expired',
    'old',
    'ExpiredAuthenticationToken',
    "The access token expiry UTC time '12/31/2025 11:59:59 PM' is earlier than current UTC time '1/1/2026 12:00:00 AM'.",
  ],
])('the fake Azure answers 401 to a token: %s', async (_what, token, code, message) => {
  const prepare: Parameters<typeof ask>[1]['prepare'] = ({ world: { granted, clock } }) => {
    granted.set('of-store', { who: 'muster', resource: 'https://azconfig.io', expiresAt: clock.now() + 1_000 });
    granted.set('old', { who: 'muster', resource: 'https://management.azure.com', expiresAt: clock.now() - 1_000 });
  };

  expect(await ask(VM_URL, { token, prepare })).toEqual([401, code, message]);
});
