// The Container API: clusters, their node pools, and the operations that make these.
import { refusal } from '#fakes/refusal.ts';
import type { FakeGroup } from './compute/group.ts';
import { isThere } from './compute/group.ts';
import { urlOf } from './compute/instance.ts';
import { MACHINE_TYPES } from './compute/seed-data.ts';
import type { GcpCall } from './read-call.ts';
import type { World } from './world.ts';

/** A node pool as the API shows it. */
export interface FakePool {
  readonly name: string;
  readonly status: string;
  autoscaling: { readonly enabled: boolean };
  readonly config: Readonly<Record<string, unknown>>;
  readonly locations: readonly string[];
  readonly instanceGroupUrls: readonly string[];
}

export interface FakeContainerOperation {
  readonly name: string;
  readonly type: string;
  readonly doneAtMs: number;
}

// Several calls need the same right: cloud.google.com/kubernetes-engine/docs/reference/api-permissions.
const RIGHTS: Readonly<Record<string, string>> = {
  'container.clusters.nodePools.list': 'container.clusters.get',
  'container.clusters.nodePools.get': 'container.clusters.get',
  'container.clusters.nodePools.create': 'container.clusters.update',
  'container.clusters.nodePools.delete': 'container.clusters.update',
};

const DONE_IN_MS = 5_000;

const absent = (what: string): Error => refusal('NOT_FOUND', `Not found: ${what}.`, 404);

interface Wanted extends Partial<FakePool> {
  readonly initialNodeCount?: number;
}

function begin({ clock, containerOperations }: World, type: string): object {
  const name = `operation-${containerOperations.size + 1}`;
  const operation = { name, type, doneAtMs: clock.now() + DONE_IN_MS };
  containerOperations.set(name, operation);
  return { name, operationType: type, status: 'RUNNING' };
}

/** The group of a pool in one of its zones, with the template that GKE makes for it. */
function makeGroup({ compute }: World, project: string, zone: string, pool: Wanted, cluster: string): string {
  const name = `gke-${cluster}-${pool.name}-${compute.nextId().slice(-8)}-grp`;
  const { machineType = 'e2-medium', labels = {} } = (pool.config ?? {}) as {
    machineType?: string;
    labels?: Record<string, string>;
  };
  if (!MACHINE_TYPES.has(machineType))
    throw refusal('INVALID_ARGUMENT', `Machine type ${machineType} is unknown.`, 400);
  const written = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const metadata = { 'kube-env': `AUTOSCALER_ENV_VARS: node_labels=${written.join(',')};os=linux\n` };
  const template = name.replace(/-grp$/, '');
  compute.templates.set(`${project}/${template}`, { id: compute.nextId(), machineType, isSpot: false, metadata });
  const place = `zones/${zone}`;
  const group: FakeGroup = {
    ...{ id: compute.nextId(), project, place, name, template, autoscaler: undefined },
    ...{ isHealing: true, isRedistributed: false, isPaginated: true, managed: [], requests: [] },
  };
  compute.groups.set(`${project}/${place}/${name}`, group);
  return urlOf(project, `${place}/instanceGroupManagers/${name}`);
}

function createPool(call: GcpCall, world: World, cluster: string): object {
  const [, project = '', , , , clusterName = ''] = cluster.split('/');
  const { nodePool = {} } = call.body as { nodePool?: Wanted };
  const pools = world.pools.get(cluster) ?? [];
  const { name = '', locations = ['us-central1-a'], config = {}, autoscaling = { enabled: false } } = nodePool;
  if (!/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    throw refusal('INVALID_ARGUMENT', `Invalid value for field "nodePool.name": "${name}".`, 400);
  if (pools.some((pool) => pool.name === name))
    throw refusal('ALREADY_EXISTS', `Already exists: ${cluster}/nodePools/${name}.`, 409);
  const urls = locations.map((zone) => makeGroup(world, project, zone, nodePool, clusterName));
  const made: FakePool = { name, status: 'RUNNING', autoscaling, config, locations, instanceGroupUrls: urls };
  world.pools.set(cluster, [...pools, made]);
  return begin(world, 'CREATE_NODE_POOL');
}

function deletePool(world: World, cluster: string, pool: FakePool): object {
  const { groups, clock } = world.compute;
  for (const url of pool.instanceGroupUrls) {
    const path = url.replace(/^.*\/projects\//, '').replace('instanceGroupManagers/', '');
    for (const managed of groups.get(path)?.managed ?? [])
      if (isThere(managed, clock.now())) managed.goneAtMs = clock.now();
    groups.delete(path);
  }
  world.pools.set(
    cluster,
    (world.pools.get(cluster) ?? []).filter((one) => one !== pool),
  );
  return begin(world, 'DELETE_NODE_POOL');
}

function operationOf({ path }: GcpCall, { containerOperations, clock }: World): object {
  const found = containerOperations.get(path.split('/').at(-1) ?? '');
  if (!found) throw absent(path);
  const isDone = clock.now() >= found.doneAtMs;
  return { name: found.name, operationType: found.type, status: isDone ? 'DONE' : 'RUNNING' };
}

function ofPools(call: GcpCall, world: World): object {
  const [cluster = '', name] = call.path.replace('/v1/', '').split(/\/nodePools\/?/);
  if (!world.clusters.has(cluster)) throw absent(cluster);
  const pools = world.pools.get(cluster) ?? [];
  if (call.action.endsWith('.list')) return { nodePools: pools };
  if (call.action.endsWith('.create')) return createPool(call, world, cluster);
  const found = pools.find((pool) => pool.name === name);
  if (!found) throw absent(`${cluster}/nodePools/${name}`);
  return call.action.endsWith('.delete') ? deletePool(world, cluster, found) : found;
}

export function answerContainer(call: GcpCall, world: World): object {
  const { path, action } = call;
  const { clusters, denied, withoutApi } = world;
  const project = path.split('/')[3] ?? '';
  const right = RIGHTS[action] ?? action;
  if (withoutApi.has(project))
    throw refusal('SERVICE_DISABLED', `Kubernetes Engine API has not been used in project ${project} before.`, 403);
  if (denied.has(right))
    throw refusal('PERMISSION_DENIED', `Required "${right}" permission(s) for "${path.slice(4)}".`, 403);
  if (action.includes('.nodePools.')) return ofPools(call, world);
  if (action === 'container.operations.get') return operationOf(call, world);
  if (action === 'container.clusters.list')
    return { clusters: [...clusters].flatMap(([name, one]) => (name.split('/')[1] === project ? [one] : [])) };
  const found = clusters.get(path.replace('/v1/', ''));
  if (found) return found;
  throw absent(path.replace('/v1/', ''));
}
