import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Context } from '#core/provider.ts';
import { type Ask, restClient } from '#rest/client.ts';
import { retried } from '#rest/retry.ts';
import { explainGoogle } from '../google-fault.ts';
import type { GkeConfig } from './config.ts';
import type { GkeCluster } from './endpoint.ts';

const HOST = 'container.googleapis.com';

export function containerApi(context: Context, project: string, token: string): Ask {
  const remedy = `Grant the server's account roles/container.clusterViewer, which has container.clusters.get, in ${project}.`;
  return restClient({
    fetch: context.fetch,
    clock: context.clock,
    base: `https://${HOST}/v1`,
    cloud: HOST,
    headers: async () => ({ authorization: `Bearer ${token}` }),
    explain: (status, body) => explainGoogle(status, body, remedy, `${HOST} --project ${project}`),
  });
}

interface Listing {
  readonly clusters?: readonly GkeCluster[];
}

/** What was probably meant: the same name elsewhere, else the most similar one. */
function meantBy({ location, clusterName }: GkeConfig, clusters: readonly GkeCluster[]): string {
  const elsewhere = clusters.find(({ name }) => name === clusterName);
  if (elsewhere) return `Set location to ${elsewhere.location}: ${clusterName} is there.`;
  const here = clusters.filter((cluster) => cluster.location === location);
  const meant =
    nearest(
      clusterName,
      here.map(({ name }) => name),
    ) ??
    nearest(
      clusterName,
      clusters.map(({ name }) => name),
    );
  const found = here.find(({ name }) => name === meant) ?? clusters.find(({ name }) => name === meant);
  if (found) return `Did you mean ${found.name} in ${found.location}?`;
  const some = clusters.slice(0, 5).map((cluster) => `${cluster.name} in ${cluster.location}`);
  return some.length > 0 ? `The project has: ${some.join(', ')}.` : 'The project has no clusters.';
}

/** The cluster as Google knows it; a wrong name is refused with the one that was probably meant. */
export async function findCluster(ask: Ask, config: GkeConfig, context: Context): Promise<GkeCluster> {
  const { clock } = context;
  const { project, location, clusterName } = config;
  const { signal } = new AbortController();
  const list = (): Promise<Listing> =>
    retried(clock, signal, () => ask<Listing>({ path: `/projects/${project}/locations/-/clusters` }, signal));
  try {
    const path = `/projects/${project}/locations/${location}/clusters/${clusterName}`;
    return await retried(clock, signal, () => ask<GkeCluster>({ path }, signal));
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
    const remedy = await list().then(
      ({ clusters = [] }) => meantBy(config, clusters),
      () => 'Check project, location and cluster_name: gcloud container clusters list.',
    );
    const where = `${HOST}: project ${project}, location ${location}`;
    throw new Fault('missing', `There is no cluster ${clusterName} (${where}).`, { cause: fault, remedy });
  }
}
