import type { ClusterAccess } from '#core/cluster-access.ts';
import { countedFetch } from '#fakes/counted-fetch.ts';
import { contextWithLog } from '../../../conformance/backend-world.ts';
import { presenterOf } from '../fake/eks/check-token.ts';
import { type AwsScene, openScene, REGION } from '../testing.ts';
import { openEks } from './cluster.ts';
import { EksConfig } from './config.ts';

export const NAME = 'velda-cluster';
export const CA = '-----BEGIN CERTIFICATE-----\nof velda-cluster\n-----END CERTIFICATE-----\n';
export const SERVER = 'https://0A1B2C.gr7.us-west-2.eks.amazonaws.com';
export const ROLE = 'arn:aws:iam::123456789012:role/muster-eks';

// As the environment of the tests has it.
const OWN_SECRET = 'secret-of-nobody';

export interface EksScene extends AwsScene {
  /** How many requests are on their way. */
  running(): number;
  open(config?: object): Promise<ClusterAccess>;
  /** Whom the cluster knows by that header. */
  presenterOf(authorization: string | undefined): string | undefined;
}

/** One cluster, in the usual region. */
export function openEksScene(): EksScene {
  const scene = openScene();
  const { fake, lines } = scene;
  fake.region(REGION).clusters.set(NAME, { name: NAME, status: 'ACTIVE', endpoint: SERVER, ca: CA });
  const { fetch, running } = countedFetch(fake.fetch);
  const context = contextWithLog({ ...scene.contextFor('cluster1'), fetch }, lines);
  return {
    ...scene,
    running,
    open: (config = {}) => openEks(EksConfig.parse({ region: REGION, clusterName: NAME, ...config }), context),
    presenterOf: (authorization = '') => presenterOf(fake, authorization.replace(/^Bearer /, ''), NAME, OWN_SECRET),
  };
}
