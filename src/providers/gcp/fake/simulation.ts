// The fake Cloud Storage as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import { openFakeGcp } from './fake-gcp.ts';
import { serveStorage } from './serve.ts';
import { openBucket } from './storage/bucket.ts';

const BUCKET = 'velda-pool-configs';
const PREFIX = 'pools/';

const DOCUMENT = { name: 'my-pool', auto_scaler: { max_agents: 4 } };

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  `  - gcs: { bucket: ${BUCKET}, config_prefix: ${PREFIX}, update_interval: 10s }`,
  'END',
  'npx muster server --config muster.yaml   # it finds the pool my-pool in the bucket',
  `npx muster source show gcs:${BUCKET}/${PREFIX}`,
  `echo '{"name": "another"}' | gcloud storage cp - gs://${BUCKET}/${PREFIX}another.json`,
];

async function start({ clock, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeGcp(clock);
  const { storage } = fake.world;
  const bucket = openBucket(BUCKET, clock);
  bucket.put(`${PREFIX}my-pool.json`, JSON.stringify(DOCUMENT, undefined, 2));
  storage.buckets.set(BUCKET, bucket);
  const served = await serveStorage(fake, { port });
  return {
    address: served.address,
    folder: '',
    environment: {
      STORAGE_EMULATOR_HOST: served.address,
      // For gcloud, which does not know the variable above.
      CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: `${served.address}/storage/v1/`,
      CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
      CLOUDSDK_CORE_PROJECT: 'simulated',
    },
    tries: TRIES,
    close: served.close,
  };
}

export default { summary: 'buckets of Google Cloud Storage', start } satisfies Simulation;
