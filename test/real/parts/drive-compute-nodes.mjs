// Google's own client drives templates, groups and resize requests of the simulated Compute Engine:
//   node drive-compute-nodes.mjs FOLDER ADDRESS PROJECT GROUP
// GROUP is a group that Muster made there, with an instance that runs and a request that waits. Prints what it saw as JSON.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, address, project, group] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const compute = require('@google-cloud/compute');
const { OAuth2Client } = require('google-auth-library');

const zone = 'us-central1-a';
const { hostname, port } = new URL(address);
const authClient = new OAuth2Client();
authClient.setCredentials({ access_token: 'simulated', expiry_date: Date.now() + 3_600_000 });
const options = { apiEndpoint: hostname, port: Number(port), protocol: 'http', authClient, fallback: true };

const templates = new compute.InstanceTemplatesClient(options);
const groups = new compute.InstanceGroupManagersClient(options);
const requests = new compute.InstanceGroupManagerResizeRequestsClient(options);
const types = new compute.MachineTypesClient(options);
const zoneOperations = new compute.ZoneOperationsClient(options);
const globalOperations = new compute.GlobalOperationsClient(options);

const at = { project, zone };
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
const ended = async ([{ latestResponse }]) => {
  const { name: operation } = latestResponse;
  const wait = () =>
    latestResponse.zone ? zoneOperations.wait({ ...at, operation }) : globalOperations.wait({ project, operation });
  for (;;) {
    const [now] = await wait();
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

async function readOurs() {
  const of = { ...at, instanceGroupManager: group };
  const [resource] = await groups.get(of);
  const [request] = await all(requests.listAsync(of));
  const managed = await all(groups.listManagedInstancesAsync(of));
  const [running] = managed.filter(({ id }) => String(id ?? '0') !== '0');
  return {
    description: resource.description,
    targetSize: resource.targetSize,
    repair: resource.instanceLifecyclePolicy?.defaultActionOnFailure ?? null,
    labels: resource.allInstancesConfig?.properties?.metadata,
    request: [
      request.name,
      request.state,
      request.instances.map(({ name }) => name),
      Number(request.requestedRunDuration.seconds),
    ],
    running: [running.name, running.instanceStatus],
  };
}

async function drive() {
  const instanceGroupManager = 'ref-group';
  const of = { ...at, instanceGroupManager };
  const properties = {
    machineType: 'a3-highgpu-8g',
    disks: [{ boot: true, initializeParams: { diskSizeGb: 200 } }],
    metadata: { items: [{ key: 'kube-env', value: 'AUTOSCALER_ENV_VARS: node_labels=a=b\n' }] },
  };
  const instanceTemplateResource = { name: 'ref-template', properties };
  await ended(await templates.insert({ project, instanceTemplateResource }));
  const [template] = await templates.get({ project, instanceTemplate: 'ref-template' });
  const [type] = await types.get({ ...at, machineType: 'a3-highgpu-8g' });
  const instanceGroupManagerResource = {
    name: instanceGroupManager,
    baseInstanceName: 'ref',
    instanceTemplate: 'global/instanceTemplates/ref-template',
    targetSize: 0,
  };
  await ended(await groups.insert({ ...at, instanceGroupManagerResource }));
  const inUse = await refusalOf(() => templates.delete({ project, instanceTemplate: 'ref-template' }));
  const ask = (name, more) =>
    requests.insert({
      ...of,
      instanceGroupManagerResizeRequestResource: { name, requestedRunDuration: { seconds: 3_600 }, ...more },
    });
  await ended(await ask('ref-named', { instances: [{ name: 'ref-a' }] }));
  await ended(await ask('ref-counted', { resizeBy: 2 }));
  const both = await refusalOf(() => ask('ref-both', { resizeBy: 1, instances: [{ name: 'ref-b' }] }));
  const taken = await refusalOf(() => ask('ref-again', { instances: [{ name: 'ref-a' }] }));
  const accepted = await until(
    () => all(requests.listAsync(of)),
    (found) => found.every(({ state }) => state === 'ACCEPTED'),
  );
  const early = await refusalOf(() => requests.delete({ ...of, resizeRequest: 'ref-named' }));
  for (const resizeRequest of ['ref-named', 'ref-counted']) {
    await ended(await requests.cancel({ ...of, resizeRequest }));
    await ended(await requests.delete({ ...of, resizeRequest }));
  }
  const [{ targetSize }] = await groups.get(of);
  await ended(await groups.delete(of));
  await ended(await templates.delete({ project, instanceTemplate: 'ref-template' }));
  return {
    template: [template.properties.machineType, template.properties.disks.length],
    gpus: type.accelerators.map((one) => [one.guestAcceleratorType, one.guestAcceleratorCount]),
    inUse,
    both: both[0],
    taken: taken[0],
    accepted: accepted.map(({ name }) => name),
    early: early[0],
    targetSize,
    gone: (await refusalOf(() => groups.get(of)))[0],
  };
}

process.stdout.write(JSON.stringify({ ours: await readOurs(), driven: await drive() }));
