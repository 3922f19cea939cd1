// Google's own client drives the simulated Compute Engine: node drive-compute.mjs FOLDER ADDRESS PROJECT NAME NAME
// The names are machines that Muster made there, in the group and beside it. Prints what it saw as one JSON object.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, address, project, managedName, ownName] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const compute = require('@google-cloud/compute');
const { OAuth2Client } = require('google-auth-library');

const zone = 'us-central1-a';
const group = 'velda-workers';
const { hostname, port } = new URL(address);
const authClient = new OAuth2Client();
authClient.setCredentials({ access_token: 'simulated', expiry_date: Date.now() + 3_600_000 });
const options = { apiEndpoint: hostname, port: Number(port), protocol: 'http', authClient, fallback: true };

const instances = new compute.InstancesClient(options);
const managers = new compute.InstanceGroupManagersClient(options);
const regional = new compute.RegionInstanceGroupManagersClient(options);
const operations = new compute.ZoneOperationsClient(options);

const all = async (listing) => {
  const found = [];
  for await (const one of listing) found.push(one);
  return found;
};
const refusalOf = async (call) => {
  try {
    await call();
    return 'no error';
  } catch (error) {
    return [error.httpStatusCode, error.message];
  }
};
/** The operation itself, when it is done: a failed one is no exception here. */
const ended = async ([{ latestResponse }]) => {
  const operation = latestResponse.name;
  for (;;) {
    const [now] = await operations.wait({ project, zone, operation });
    if (now.status === 'DONE') return now;
  }
};
const until = async (look, isRight) => {
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const at = { project, zone };
const inGroup = { ...at, instanceGroupManager: group };
const listManaged = () => all(managers.listManagedInstancesAsync(inGroup));
const managedNamed = async (name) => (await listManaged()).find((one) => one.name === name);
const nameIn = ({ name }) => name;

async function driveGroup() {
  const [resource] = await managers.get(inGroup);
  const resourceOf = {
    instances: [{ name: 'ref-a', preservedState: { metadata: { who: 'referee' } } }, { name: 'ref-b' }],
  };
  const requestId = '11111111-1111-4111-8111-111111111111';
  const asked = () =>
    managers.createInstances({
      ...inGroup,
      requestId,
      instanceGroupManagersCreateInstancesRequestResource: resourceOf,
    });
  const first = await ended(await asked());
  const again = await ended(await asked());
  const made = await until(
    () => managedNamed('ref-a'),
    (one) => one?.instanceStatus === 'RUNNING',
  );
  const twice = await refusalOf(() =>
    managers.createInstances({ ...inGroup, instanceGroupManagersCreateInstancesRequestResource: resourceOf }),
  );
  const listed = (await listManaged()).map(nameIn);
  const ours = await managedNamed(managedName);
  const instancesOf = ['ref-a', 'ref-b'].map((name) => `zones/${zone}/instances/${name}`);
  await ended(
    await managers.deleteInstances({
      ...inGroup,
      instanceGroupManagersDeleteInstancesRequestResource: { instances: instancesOf },
    }),
  );
  await until(
    () => managedNamed('ref-a'),
    (one) => one === undefined,
  );
  const [size] = await managers.get(inGroup);
  const inRegion = { project, region: 'us-central1', instanceGroupManager: 'velda-regional' };
  const [spread] = await regional.get(inRegion);
  return {
    template: resource.instanceTemplate.split('/').at(-1),
    isSameOperation: first.name === again.name,
    made: [made.currentAction, made.preservedStateFromConfig.metadata, typeof made.id],
    twice,
    listed: listed.toSorted(),
    ours: { action: ours.currentAction, keys: Object.keys(ours.preservedStateFromConfig.metadata).toSorted() },
    targetSize: size.targetSize,
    redistribution: spread.updatePolicy.instanceRedistributionType,
    noGroup: await refusalOf(() => managers.get({ ...inGroup, instanceGroupManager: 'nowhere' })),
  };
}

const bulk = (names, machineType) => ({
  ...at,
  bulkInsertInstanceResourceResource: {
    count: names.length,
    minCount: 1,
    perInstanceProperties: Object.fromEntries(names.map((name) => [name, {}])),
    instanceProperties: {
      machineType,
      labels: { from: 'referee' },
      disks: [
        {
          boot: true,
          autoDelete: true,
          initializeParams: { sourceImage: 'projects/debian-cloud/global/images/family/debian-12' },
        },
      ],
      networkInterfaces: [{ network: 'global/networks/default' }],
    },
  },
});

async function driveInstances() {
  const short = await ended(await instances.bulkInsert(bulk(['ref-1', 'ref-2'], 'n2-standard-8')));
  const none = await ended(await instances.bulkInsert(bulk(['ref-3'], 'n2-standard-8')));
  const filter = 'labels.from=referee';
  const listed = await all(instances.listAsync({ ...at, filter }));
  const scopes = await all(instances.aggregatedListAsync({ project, filter: 'labels.muster-cluster=cluster1' }));
  const [ours] = await instances.get({ ...at, instance: ownName });
  const [byId] = await instances.get({ ...at, instance: String(ours.id) });
  await until(
    async () => (await instances.get({ ...at, instance: 'ref-1' }))[0],
    ({ status }) => status === 'RUNNING',
  );
  await ended(await instances.stop({ ...at, instance: 'ref-1' }));
  const [stopped] = await instances.get({ ...at, instance: 'ref-1' });
  await ended(await instances.delete({ ...at, instance: 'ref-1' }));
  const [image] = await new compute.ImagesClient(options).getFromFamily({
    project: 'debian-cloud',
    family: 'debian-12',
  });
  const places = await all(new compute.ZonesClient(options).listAsync({ project }));
  return {
    short: Object.entries(short.instancesBulkInsertOperationMetadata.perLocationStatus).map(([where, one]) => [
      where,
      one.targetVmCount,
      one.createdVmCount,
    ]),
    none: [none.error.errors[0].code, none.httpErrorStatusCode],
    listed: listed.map(nameIn),
    found: scopes.flatMap(([scope, { instances: some = [] }]) => some.map((one) => `${scope} ${one.name}`)),
    stopped: stopped.status,
    gone: await refusalOf(() => instances.get({ ...at, instance: 'ref-1' })),
    badType: await refusalOf(() => instances.bulkInsert(bulk(['ref-4'], 'e2-nothing'))),
    image: image.name,
    zones: places.map(nameIn),
    isSame: byId.name === ours.name,
    ours: {
      labels: Object.keys(ours.labels).toSorted(),
      machineType: ours.machineType.split('/').at(-1),
      status: ours.status,
      spot: ours.scheduling?.provisioningModel,
      created: ours.creationTimestamp.length > 20,
      address: ours.networkInterfaces[0].networkIP,
    },
  };
}

console.log(JSON.stringify({ group: await driveGroup(), instances: await driveInstances() }));
