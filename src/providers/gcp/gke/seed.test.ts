import { expect, it } from 'vitest';
import { openClusters } from '#clouds/clusters.ts';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { silentLog } from '#core/log.ts';
import type { Provider } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import kubernetes from '../../kubernetes/index.ts';
import gcp from '../index.ts';
import { ACCOUNT, openScene } from '../testing.ts';

const SEED = `
provisioners:
  - kubernetes:
      namespace: "velda"
      gke:
        project: "my-gcp-project"
        location: "us-central1"
        cluster_name: "velda-cluster"
`;

const NAMED = `
clusters: {prod: {gke: {project: my-gcp-project, location: us-central1, cluster_name: velda-cluster}}}
provisioners: [{kubernetes: {namespace: velda, cluster: prod}}]
`;

const providers: readonly Provider[] = [gcp, kubernetes];

/** The cluster of the first source of a server's file, as the server opens it; on a machine with a service account. */
async function clusterIn(text: string): Promise<ClusterAccess> {
  const scene = openScene();
  scene.variables.HOME = '/nowhere';
  scene.fake.world.machineAccount = ACCOUNT;
  const kinds = knownKinds(providers, []);
  const { value: config, problems } = readServerFile(text, { kinds, environment: readEnvironment({}) });
  expect(problems ?? []).toEqual([]);
  const [source] = config?.sources ?? [];
  const clusters = openClusters({
    kinds: kinds.clusters ?? {},
    named: config?.clusters ?? {},
    context: scene.context,
    log: silentLog,
  });
  const access = await scene.during(clusters.at(source?.config ?? {}));
  const { headers } = await scene.during(access.credential(going()));
  expect(scene.fake.world.granted.whose(headers.authorization?.slice(7))).toBe(ACCOUNT);
  return access;
}

it.each([
  ['as the seed writes it', SEED],
  ['named once for all', NAMED],
])('a cluster of GKE in the file of the server, %s, is opened', async (_how, text) => {
  expect((await clusterIn(text)).server).toBe('https://34.1.2.3');
});
