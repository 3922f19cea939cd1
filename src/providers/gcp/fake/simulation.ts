// The fake Google Cloud as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { FakeGroup } from './compute/group.ts';
import { runningNodes } from './compute/nodes.ts';
import { PROJECT, ZONE } from './compute/seed-data.ts';
import { type ComputeState, publishedLimits } from './compute/state.ts';
import { openFakeGcp } from './fake-gcp.ts';
import { serveGcp } from './serve.ts';
import { openBucket } from './storage/bucket.ts';

const BUCKET = 'velda-pool-configs';
const PREFIX = 'pools/';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 1_500, lagMs: 500 };

const GROUP = { project: PROJECT, zone: ZONE, instance_group: 'velda-workers' };
const DOCUMENT = { name: 'my-pool', auto_scaler: { backend: { gce_instance_group: GROUP }, max_agents: 10 } };

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  `  - gcs: { bucket: ${BUCKET}, config_prefix: ${PREFIX}, update_interval: 10s }`,
  'END',
  'npx muster server --config muster.yaml   # it finds the pool my-pool in the bucket',
  'npx muster run --pool my-pool -- uname -a',
  `gcloud compute instance-groups managed list-instances velda-workers --zone ${ZONE}`,
  `echo '{"name": "another"}' | gcloud storage cp - gs://${BUCKET}/${PREFIX}another.json`,
];

// Two groups of GPU nodes, whose template gives the label of a NodeProvisioner as GKE does. The first has room for one
// machine, so that the second one is asked for the rest.
const NODE_TEMPLATE = 'h100-nodes-v2';
const NODE_TYPE = 'a3-highgpu-8g';
const NODE_LABELS = 'nodeprovisioner.compute.baseten.co/provisioner-name=h100';
const NODE_GROUPS = [
  ['h100-a', 'us-central1-a'],
  ['h100-b', 'us-central1-b'],
] as const;

function addNodeGroups(compute: ComputeState): void {
  const metadata = { 'kube-env': `AUTOSCALER_ENV_VARS: node_labels=${NODE_LABELS};os=linux\n` };
  compute.templates.set(`${PROJECT}/${NODE_TEMPLATE}`, {
    ...{ id: compute.nextId(), machineType: NODE_TYPE, isSpot: false, metadata },
  });
  for (const [name, zone] of NODE_GROUPS) {
    const place = `zones/${zone}`;
    const group: FakeGroup = {
      ...{ id: compute.nextId(), project: PROJECT, place, name, template: NODE_TEMPLATE, autoscaler: undefined },
      ...{ isHealing: true, isRedistributed: false, isPaginated: true, managed: [], requests: [] },
    };
    compute.groups.set(`${PROJECT}/${place}/${name}`, group);
  }
  compute.stock.set(`${NODE_TYPE} ${ZONE}`, 1);
}

const NODE_TRIES = [
  "cat > nodes.yaml <<'END'",
  'nodes:',
  '  accounts:',
  `    - gce: { project: ${PROJECT} }`,
  'END',
  'npx muster kube crd --nodes | kubectl apply -f -',
  'npx muster server --config nodes.yaml',
  '',
  '# in another terminal, with the same variables, in the same folder:',
  "kubectl apply -f - <<'END'",
  'apiVersion: compute.baseten.co/v1alpha1',
  'kind: NodeProvisioner',
  'metadata: { name: h100 }',
  'spec: { existingInstanceGroupNames: [h100-a, h100-b], minUnutilizedGPUNodes: 1, scaleDownDelay: 20 }',
  'END',
  'kubectl get nodeprovisioners,nodes',
  'npx muster node why h100',
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeGcp(clock);
  const { storage, compute } = fake.world;
  Object.assign(compute.behaviour, BEHAVIOUR);
  compute.limits = publishedLimits;
  addNodeGroups(compute);
  const bucket = openBucket(BUCKET, clock);
  bucket.put(`${PREFIX}my-pool.json`, JSON.stringify(DOCUMENT, undefined, 2));
  storage.buckets.set(BUCKET, bucket);
  const served = await serveGcp(fake, { port }, true);
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: {
      STORAGE_EMULATOR_HOST: served.address,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${served.address}/compute/v1/`,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN: `${served.address}/`,
      // For gcloud, which does not know the first variable.
      CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: `${served.address}/storage/v1/`,
      CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
      CLOUDSDK_CORE_PROJECT: PROJECT,
      // For computers, whose users name no project.
      GOOGLE_CLOUD_PROJECT: PROJECT,
    },
    tries: TRIES,
    nodes: { running: () => runningNodes(compute), tries: NODE_TRIES },
    close: served.close,
  };
}

export default { summary: 'buckets and machines of Google Cloud', start } satisfies Simulation;
