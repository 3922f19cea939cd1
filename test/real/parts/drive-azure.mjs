// Azure's own clients drive the simulated Azure: node drive-azure.mjs FOLDER ADDRESS SUBSCRIPTION CONNECTION_STRING NAME
// NAME is a machine that Muster made there. Prints what they saw as one JSON object.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, address, subscription, connection, ours] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const { ComputeManagementClient } = require('@azure/arm-compute');
const { AppConfigurationClient } = require('@azure/app-configuration');

/** The simulation is on loopback, without TLS. */
const PLAIN = {
  position: 'perCall',
  policy: {
    name: 'plain',
    sendRequest(request, next) {
      request.allowInsecureConnection = true;
      return next(request);
    },
  },
};

const codeOf = async (call) => {
  try {
    await call();
    return 'no error';
  } catch (error) {
    return error.statusCode === undefined ? error.message : [error.statusCode, error.code];
  }
};
const all = async (listing) => {
  const found = [];
  for await (const one of listing) found.push(one);
  return found;
};

async function driveStore() {
  const client = new AppConfigurationClient(connection, { additionalPolicies: [PLAIN] });
  for (const name of ['a', 'b', 'c'])
    await client.setConfigurationSetting({ key: `ref/${name}`, value: `text ${name}` });
  await client.setConfigurationSetting({ key: 'ref/a', label: 'prod', value: 'labelled' });
  const pages = [];
  for await (const page of client.listConfigurationSettings({ keyFilter: 'ref/*', labelFilter: '\0' }).byPage())
    pages.push({ keys: page.items.map(({ key }) => key), etag: page.etag });
  const pageEtags = pages.map(({ etag }) => etag);
  const again = [];
  for await (const page of client
    .listConfigurationSettings({ keyFilter: 'ref/*', labelFilter: '\0', pageEtags })
    .byPage())
    again.push(page._response.status);
  const read = await client.getConfigurationSetting({ key: 'ref/a' });
  const unchanged = await client.getConfigurationSetting(read, { onlyIfChanged: true });
  const stale = { ...read, value: 'x', etag: 'another' };
  const refused = await codeOf(() => client.setConfigurationSetting(stale, { onlyIfUnchanged: true }));
  await client.deleteConfigurationSetting({ key: 'ref/b' });
  const missing = await codeOf(() => client.getConfigurationSetting({ key: 'ref/b' }));
  return {
    pages: pages.map(({ keys }) => keys),
    again,
    value: read.value,
    unchanged: unchanged.statusCode,
    refused: refused[0],
    missing: missing[0],
    labelled: (await client.getConfigurationSetting({ key: 'ref/a', label: 'prod' })).value,
  };
}

const SUBNET = `/subscriptions/${subscription}/resourceGroups/velda/providers/Microsoft.Network/virtualNetworks/velda-network/subnets/agents`;

const machine = (vmSize = 'Standard_D2s_v5') => ({
  location: 'westeurope',
  tags: { from: 'referee' },
  hardwareProfile: { vmSize },
  storageProfile: {
    imageReference: { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' },
    osDisk: { createOption: 'FromImage', deleteOption: 'Delete' },
  },
  osProfile: { computerName: 'ref', adminUsername: 'azureuser', adminPassword: 'not a real one' },
  networkProfile: {
    networkApiVersion: '2022-11-01',
    networkInterfaceConfigurations: [
      {
        name: 'ref-nic',
        deleteOption: 'Delete',
        ipConfigurations: [{ name: 'ip', subnet: { id: SUBNET } }],
      },
    ],
  },
});

async function driveCompute() {
  const credential = { getToken: async () => ({ token: 'simulated', expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new ComputeManagementClient(credential, subscription, {
    endpoint: address,
    allowInsecureConnection: true,
  });
  // It sends tokens by TLS alone, and the simulation wants none.
  client.pipeline.removePolicy({ name: 'bearerTokenAuthenticationPolicy' });
  const { virtualMachines: vms } = client;
  const options = { updateIntervalInMs: 100 };
  const made = await vms.createOrUpdate('velda', 'ref-1', machine(), { ...options, ifNoneMatch: '*' });
  const listed = (await all(vms.list('velda'))).map(({ name }) => name);
  const view = await vms.instanceView('velda', 'ref-1');
  const mine = await vms.get('velda', ours);
  const result = {
    made: [made.name, made.provisioningState, made.tags],
    listed: listed.toSorted(),
    power: view.statuses.map(({ code }) => code),
    twice: await codeOf(() => vms.createOrUpdate('velda', 'ref-1', machine(), { ...options, ifNoneMatch: '*' })),
    badSize: await codeOf(() => vms.createOrUpdate('velda', 'ref-2', machine('Standard_X'), options)),
    // The next machine is promised, and never comes.
    late: await codeOf(() => vms.createOrUpdate('velda', 'ref-3', machine('Standard_F8s_v2'), options)),
    missing: await codeOf(() => vms.get('velda', 'ref-9')),
    sizes: (await all(client.resourceSkus.list({ filter: "location eq 'uksouth'" }))).map(({ name }) => name),
    sets: (await all(client.virtualMachineScaleSets.list('velda'))).length,
    ours: mine,
  };
  for (const name of ['ref-1', 'ref-3']) await vms.delete('velda', name, { ...options, forceDeletion: true });
  result.gone = await codeOf(() => vms.get('velda', 'ref-1'));
  result.disks = (await all(client.disks.listByResourceGroup('velda'))).map(({ name }) => name);
  return result;
}

console.log(JSON.stringify({ store: await driveStore(), compute: await driveCompute() }));
