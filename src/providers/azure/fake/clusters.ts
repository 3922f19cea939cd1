import { stringify } from 'yaml';
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from './read-call.ts';
import type { AksCluster, World } from './world.ts';

const TYPE = 'Microsoft.ContainerService/managedClusters';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** As Azure writes it: with kubelogin where the cluster has Entra, with a certificate and a token where it has not. */
function kubeconfigOf({ name, server, ca, localToken }: AksCluster): string {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'kubelogin', args: ['get-token'] };
  const local = {
    'client-certificate-data': base64(`certificate of ${name}`),
    'client-key-data': base64(`planted-key of ${name}`),
    token: localToken,
  };
  const user = `clusterUser_${name}`;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user } }],
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: user, user: localToken === undefined ? { exec } : local }],
  });
}

function userCredential({ path }: AzureCall, world: World): object {
  const right = `${TYPE}/listClusterUserCredential/action`;
  const [, , , , group = '', , , , name = ''] = path.split('/');
  if (world.denied.has(right))
    throw refusal('AuthorizationFailed', `The client does not have authorization to perform action '${right}'.`, 403);
  const inGroup = world.clusters.filter(({ resourceGroup }) => resourceGroup.toLowerCase() === group.toLowerCase());
  if (inGroup.length === 0)
    throw refusal('ResourceGroupNotFound', `Resource group '${group}' could not be found.`, 404);
  const found = inGroup.find((one) => one.name === name);
  if (!found) throw refusal('ResourceNotFound', `The Resource '${TYPE}/${name}' was not found.`, 404);
  return { kubeconfigs: [{ name: 'clusterUser', value: base64(kubeconfigOf(found)) }] };
}

function listClusters({ path, params }: AzureCall, world: World): object {
  if (world.denied.has(`${TYPE}/read`)) throw refusal('AuthorizationFailed', 'The client may not list.', 403);
  const from = Number(params.$skiptoken ?? 0);
  const value = world.clusters.slice(from, from + world.largestPage).map(({ name, resourceGroup }) => ({
    name,
    id: `/subscriptions/${world.subscriptionId}/resourceGroups/${resourceGroup}/providers/${TYPE}/${name}`,
  }));
  const next = from + world.largestPage;
  if (next >= world.clusters.length) return { value };
  const query = new URLSearchParams({ 'api-version': params['api-version'] ?? '', $skiptoken: String(next) });
  return { value, nextLink: `https://management.azure.com${path}?${query}` };
}

export function askClusters(call: AzureCall, world: World): object {
  return call.action === 'management.listClusters' ? listClusters(call, world) : userCredential(call, world);
}
