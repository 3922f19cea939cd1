// What the tests of this provider share: a fake Google on a virtual clock, and a context that sees nothing else.

import { generateKeyPairSync } from 'node:crypto';
import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Context, Source } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { countedFetch } from '#fakes/counted-fetch.ts';
import { type MemoryFiles, memoryFiles } from '#kube/testing/memory-files.ts';
import { contextWithLog } from '../../conformance/backend-world.ts';
import { type FakeGcp, openFakeGcp } from './fake/fake-gcp.ts';
import { type FakeBucket, openBucket } from './fake/storage/bucket.ts';
import { openGke } from './gke/cluster.ts';
import { GkeConfig } from './gke/config.ts';
import type { GkeCluster } from './gke/endpoint.ts';
import { GcsConfig } from './storage/config.ts';
import { openGcs } from './storage/source.ts';

export const SEED = { project: 'my-gcp-project', location: 'us-central1', clusterName: 'velda-cluster' };
export const BUCKET = 'velda-pool-configs';
export const CA = '-----BEGIN CERTIFICATE-----\nof velda-cluster\n-----END CERTIFICATE-----\n';
export const ACCOUNT = 'muster@my-gcp-project.iam.gserviceaccount.com';

export const aCluster = (changes: Partial<GkeCluster> = {}): GkeCluster => ({
  name: 'velda-cluster',
  location: 'us-central1',
  status: 'RUNNING',
  endpoint: '34.1.2.3',
  masterAuth: { clusterCaCertificate: Buffer.from(CA).toString('base64') },
  ...changes,
});

const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export const SERVICE_ACCOUNT = {
  type: 'service_account',
  project_id: 'my-gcp-project',
  private_key_id: 'key1',
  private_key: KEYS.privateKey,
  client_email: ACCOUNT,
  token_uri: 'https://oauth2.googleapis.com/token',
};

export interface Scene {
  readonly clock: VirtualClock;
  readonly fake: FakeGcp;
  readonly lines: string[];
  /** All files that there are, by path. */
  readonly files: MemoryFiles;
  /** How many requests are on their way. */
  running(): number;
  readonly variables: Record<string, string>;
  readonly context: Context;
  /** Writes credentials, and names them by the variable. */
  writeCredentials(credentials: unknown): string;
  open(config?: object): Promise<ClusterAccess>;
  /** The seed's bucket. */
  readonly bucket: FakeBucket;
  openGcs(config?: object): Promise<Source>;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
}

/** One cluster and one empty bucket, as the seed names them, and the key of a service account that may read both. */
export function openScene(): Scene {
  const clock = new VirtualClock();
  const fake = openFakeGcp(clock);
  const files = memoryFiles();
  const lines: string[] = [];
  const variables: Record<string, string> = { HOME: '/home/muster' };
  const { fetch, running } = countedFetch(fake.fetch);
  fake.world.clusters.set('projects/my-gcp-project/locations/us-central1/clusters/velda-cluster', aCluster());
  const bucket = openBucket(BUCKET, clock);
  fake.world.storage.buckets.set(BUCKET, bucket);
  fake.world.accountKeys.set(ACCOUNT, KEYS.publicKey);
  const context = contextWithLog(
    {
      cluster: 'cluster1',
      clock,
      random: seededRandom(1),
      fetch,
      dataDir: '/nowhere',
      agentCommand: [],
      variable: (name) => variables[name],
    },
    lines,
  );
  return {
    clock,
    fake,
    lines,
    files,
    running,
    variables,
    context,
    writeCredentials(credentials) {
      const path = '/etc/muster/key.json';
      files.texts.set(path, typeof credentials === 'string' ? credentials : JSON.stringify(credentials));
      variables.GOOGLE_APPLICATION_CREDENTIALS = path;
      return path;
    },
    open: (config = SEED) => openGke(GkeConfig.parse(config), context, files),
    bucket,
    openGcs: (config = {}) =>
      openGcs(GcsConfig.parse({ bucket: BUCKET, configPrefix: 'pools/', ...config }), context, files),
    during: (call) => during(clock, call),
  };
}
