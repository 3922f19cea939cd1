// The fake Google Cloud as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import { PROJECT, ZONE } from './compute/seed-data.ts';
import { publishedLimits } from './compute/state.ts';
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

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeGcp(clock);
  const { storage, compute } = fake.world;
  Object.assign(compute.behaviour, BEHAVIOUR);
  compute.limits = publishedLimits;
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
    close: served.close,
  };
}

export default { summary: 'buckets and machines of Google Cloud', start } satisfies Simulation;
