// The instance groups behind the node pools of one cluster of GKE.
import { Fault } from '#core/fault.ts';
import type { NewNodeGroup, NodeGroup, NodeGroups } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { lastPart } from '../compute/api.ts';
import { accountOf, computeAt } from '../compute/client.ts';
import { groupIn } from '../instance-group/group.ts';
import { chooseGroup, type FoundGroup, nodeGroupOf, openBirths } from '../nodes/groups.ts';
import { demandEmpty } from '../nodes/make.ts';
import type { GkeNodesConfig } from './config.ts';
import { type NodePool, poolsOf } from './container-api.ts';
import { madeForOf, poolFor } from './pool.ts';
import { poolRefusal } from './refusal.ts';

interface PoolGroup extends FoundGroup {
  readonly pool: NodePool;
}

export async function openGkeNodes(config: GkeNodesConfig, context: Context): Promise<NodeGroups> {
  const { project, location, clusterName } = config;
  const compute = computeAt(project, config.endpoint, context);
  const pools = poolsOf(config, context);
  const birthsOf = openBirths();
  const { cluster } = context;

  /** Known by the name of the group, and by that of its pool. */
  function groupsOf(pool: NodePool): PoolGroup[] {
    return (pool.instanceGroupUrls ?? []).map((url) => {
      const place = /(?:zones|regions)\/[^/]+/.exec(url)?.[0] ?? '';
      const group = groupIn(compute, cluster, place, lastPart(url));
      return { group, alias: pool.name, madeFor: madeForOf(pool, cluster), pool };
    });
  }

  const allGroups = async (signal: AbortSignal): Promise<readonly PoolGroup[]> =>
    (await pools.list(signal)).flatMap(groupsOf);

  function open({ group, madeFor, pool }: PoolGroup): NodeGroup {
    const refusal = (_resource: unknown, signal: AbortSignal) => poolRefusal(pools, config, pool.name, signal);
    // `kube-env` of the template may lag behind the labels of the pool.
    return nodeGroupOf({ group, births: birthsOf(group), refusal, labels: pool.config?.labels }, madeFor);
  }

  const named =
    (name: string) =>
    ({ group, alias }: PoolGroup): boolean =>
      alias === name || group.name === name;

  async function create(wanted: NewNodeGroup, signal: AbortSignal): Promise<NodeGroup> {
    const template = config.poolTemplates?.[wanted.template];
    if (!template)
      throw new Fault('invalid', `There is no pool template ${wanted.template} for the cluster ${clusterName}.`, {
        remedy: 'Name one of pool_templates in the configuration of this account.',
      });
    const { name, provisioner } = wanted;
    const before = await pools.list(signal);
    const there = before.find((pool) => pool.name === name) ?? before.find((pool) => groupsOf(pool).some(named(name)));
    if (there && madeForOf(there, cluster) !== provisioner)
      throw new Fault('conflict', `The node pool ${name} is there, and was made by others.`);
    if (!there) await pools.create(poolFor(wanted, template, cluster), signal);
    const [made] = groupsOf(await pools.get(name, signal));
    if (!made) throw new Fault('unavailable', `The node pool ${name} is being made.`);
    return open(made);
  }

  async function drop(name: string, signal: AbortSignal): Promise<void> {
    const there = (await pools.list(signal)).find((pool) => pool.name === name || groupsOf(pool).some(named(name)));
    if (!there) return;
    if (madeForOf(there, cluster) === undefined)
      throw new Fault('conflict', `The node pool ${name} was made by others.`);
    // Deleting a pool deletes its nodes, so it must be empty at this moment.
    for (const { group } of groupsOf(there)) await demandEmpty(group, signal);
    await pools.delete(there.name, signal);
  }

  return {
    cloud: `${accountOf(compute)}:${location}:${clusterName}:node-groups`,
    account: accountOf(compute),
    async find({ names, providerIds }, signal) {
      const all = await allGroups(signal);
      const where = `the cluster ${clusterName}`;
      const found = names.map(async (name) => {
        const chosen = await chooseGroup(name, all, { providerIds, where }, signal);
        return [name, 'reason' in chosen ? chosen : open(chosen)] as const;
      });
      return new Map(await Promise.all(found));
    },
    ...(config.poolTemplates && { create }),
    drop,
  };
}
