import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Context } from '#core/provider.ts';
import { askAt } from '#rest/ask-at.ts';
import { inPages, retried } from '#rest/retry.ts';
import { explainArm } from '../azure-fault.ts';
import type { AzureLogin } from '../credentials/default.ts';
import type { AksConfig } from './config.ts';
import { type CredentialResults, type Kubeconfig, readKubeconfig } from './kubeconfig.ts';

const API_VERSION = '2024-09-01';
const TYPE = 'Microsoft.ContainerService/managedClusters';
const RIGHT = `${TYPE}/listClusterUserCredential/action`;

interface Listed {
  readonly id: string;
  readonly name: string;
}

interface Page {
  readonly value?: readonly Listed[];
  readonly nextLink?: string | null;
}

export interface FindDeps {
  readonly context: Context;
  readonly login: AzureLogin;
}

async function ask<T>(
  { context, login }: FindDeps,
  method: 'GET' | 'POST',
  url: string,
  signal: AbortSignal,
): Promise<T> {
  const { value } = await login.token(login.management, signal);
  const remedy = `Grant the server's identity the role Azure Kubernetes Service Cluster User, which has ${RIGHT}.`;
  const question = {
    method,
    url,
    headers: { authorization: `Bearer ${value}` },
    explain: (status: number, body: unknown) => explainArm(status, body, remedy),
  };
  return askAt<T>(context, question, signal);
}

const groupOf = ({ id }: Listed): string => /\/resourceGroups\/([^/]+)/i.exec(id)?.[1] ?? '';

async function clustersIn(deps: FindDeps, subscriptionId: string, signal: AbortSignal): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  const first = `${deps.login.management}/subscriptions/${subscriptionId}/providers/${TYPE}?api-version=${API_VERSION}`;
  await inPages(deps.context.clock, signal, async (link) => {
    const page = await ask<Page>(deps, 'GET', link ?? first, signal);
    all.push(...(page.value ?? []));
    const next = page.nextLink ?? undefined;
    // Our token goes there, so it must be Azure's own address.
    if (next !== undefined && new URL(next).origin !== deps.login.management)
      throw new Fault('unavailable', 'Azure names a next page at another address.');
    return next;
  });
  return all;
}

function meantBy({ resourceGroup, clusterName }: AksConfig, known: readonly Listed[]): string {
  const isHere = (one: Listed): boolean => groupOf(one).toLowerCase() === resourceGroup.toLowerCase();
  const elsewhere = known.find(({ name }) => name === clusterName);
  if (elsewhere) return `Set resource_group to ${groupOf(elsewhere)}: ${clusterName} is there.`;
  const named = (among: readonly Listed[]): string | undefined =>
    nearest(
      clusterName,
      among.map(({ name }) => name),
    );
  const here = known.filter(isHere);
  const meant = named(here) ?? named(known);
  const found = here.find(({ name }) => name === meant) ?? known.find(({ name }) => name === meant);
  if (found) return `Did you mean ${found.name} in ${groupOf(found)}?`;
  const some = known.slice(0, 5).map((one) => `${one.name} in ${groupOf(one)}`);
  return some.length > 0 ? `The subscription has: ${some.join(', ')}.` : 'The subscription has no clusters.';
}

/** What Azure gives to users of the cluster; a wrong name is refused with the one that was probably meant. */
export async function findCluster(deps: FindDeps, config: AksConfig, signal: AbortSignal): Promise<Kubeconfig> {
  const { subscriptionId, resourceGroup, clusterName } = config;
  const { clock } = deps.context;
  const path = `/subscriptions/${subscriptionId}/resourceGroups/${encodeURIComponent(resourceGroup)}/providers/${TYPE}/${clusterName}`;
  // `exec` names the way to log in to clusters with Entra; others ignore it.
  const url = `${deps.login.management}${path}/listClusterUserCredential?api-version=${API_VERSION}&format=exec`;
  try {
    const results = await retried(clock, signal, () => ask<CredentialResults>(deps, 'POST', url, signal));
    return readKubeconfig(results, clusterName);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
    const remedy = await clustersIn(deps, subscriptionId, signal).then(
      (known) => meantBy(config, known),
      () => 'Check subscription_id, resource_group and cluster_name: az aks list --output table.',
    );
    const where = `${new URL(deps.login.management).host}: resource group ${resourceGroup}`;
    throw new Fault('missing', `There is no cluster ${clusterName} (${where}).`, { cause: fault, remedy });
  }
}
