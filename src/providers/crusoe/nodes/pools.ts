// All node pools of one project, or of one cluster of it, as groups of nodes.
import { Fault } from '#core/fault.ts';
import type { GroupRefusal, NewNodeGroup, NodeGroup, NodeGroups } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { accessFor } from '../access.ts';
import { isOver, type NodePool, POOLS } from '../api.ts';
import { crusoeAt } from '../client.ts';
import type { CrusoeConfig } from '../config.ts';
import { cancelMissing, growPool, removeVms } from './change.ts';
import { dropPool, madeForOf, makePool } from './make.ts';
import { describePool } from './state.ts';

const shownAs = ({ name, cluster_id: cluster, id }: NodePool): string => `${name} in the cluster ${cluster} (${id})`;

const LISTED = 10;

function several(pools: readonly NodePool[]): string {
  const some = pools.slice(0, LISTED).map(shownAs).join(', ');
  return pools.length > LISTED ? `${some}, …` : some;
}

/** By its id, or by its name; where several have it, the one with a VM that is a node at hand. */
function choosePool(
  wanted: string,
  pools: readonly NodePool[],
  providerIds: readonly string[],
): NodePool | GroupRefusal {
  const byId = pools.find(({ id }) => id === wanted);
  const fitting = byId ? [byId] : pools.filter(({ name }) => name === wanted);
  const [only, second] = fitting;
  if (!only) {
    const known = pools.length > 0 ? `there are ${several(pools)}` : 'there are none';
    const message = `There is no node pool ${wanted} in this project of Crusoe; ${known}.`;
    return { reason: 'GroupNotFound', message, remedy: 'Correct the name, or make the pool.' };
  }
  if (!second) return only;
  const vms = new Set(providerIds.map((id) => id.replace(/^crusoe:\/\//, '')));
  const [chosen, another] = fitting.filter((pool) => pool.instance_ids?.some((id) => vms.has(id)));
  if (chosen && !another) return chosen;
  const message = `The name ${wanted} fits several node pools: ${several(fitting)}.`;
  return { reason: 'GroupAmbiguous', message, remedy: 'Write the id of the pool, or set cluster_id for this account.' };
}

export async function openCrusoeNodes(config: CrusoeConfig, context: Context): Promise<NodeGroups> {
  const access = accessFor(config, context);
  const crusoe = crusoeAt(access, context);
  const { projectId, clusterId } = access;
  const account = `crusoe:${projectId}`;

  async function pools(signal: AbortSignal): Promise<readonly NodePool[]> {
    const all = await crusoe.all<NodePool>({ path: POOLS, query: { cluster_id: clusterId } }, signal);
    return all.filter((pool) => !isOver(pool));
  }

  function open(pool: NodePool): NodeGroup {
    const { id, name } = pool;
    return {
      id: `${account}:${id}`,
      name,
      madeFor: madeForOf(pool, context.cluster),
      describe: (signal) => describePool(crusoe, id, signal),
      grow: (growth, signal) => growPool(crusoe, id, growth, signal),
      cancel: (ids, signal) => cancelMissing(crusoe, id, ids, signal),
      remove: (ids, signal) => removeVms(crusoe, id, ids, signal),
    };
  }

  async function create(wanted: NewNodeGroup, signal: AbortSignal): Promise<NodeGroup> {
    const template = config.poolTemplates?.[wanted.template];
    if (!template)
      throw new Fault('invalid', `There is no pool template ${wanted.template} for Crusoe.`, {
        remedy: 'Name one of pool_templates in the configuration of this account.',
      });
    const named = async () => (await pools(signal)).filter(({ name }) => name === wanted.name);
    const there = await named();
    const ours = there.find((pool) => madeForOf(pool, context.cluster) === wanted.provisioner);
    if (ours) return open(ours);
    if (there.length > 0) throw new Fault('conflict', `The node pool ${wanted.name} is there, and was made by others.`);
    await makePool(crusoe, wanted, { template, cluster: context.cluster, clusterId }, signal);
    const [made] = await named();
    if (!made) throw new Fault('unavailable', `The node pool ${wanted.name} is being made.`);
    return open(made);
  }

  return {
    cloud: clusterId === undefined ? account : `${account}:${clusterId}`,
    account,
    async find({ names, providerIds }, signal) {
      const all = await pools(signal);
      const found = names.map((name) => {
        const chosen = choosePool(name, all, providerIds);
        return [name, 'reason' in chosen ? chosen : open(chosen)] as const;
      });
      return new Map(found);
    },
    ...(config.poolTemplates && { create }),
    async drop(name, signal) {
      const there = (await pools(signal)).filter((pool) => pool.name === name);
      if (there.length === 0) return;
      const ours = there.find((pool) => madeForOf(pool, context.cluster) !== undefined);
      if (!ours) throw new Fault('conflict', `The node pool ${name} was made by others.`);
      await dropPool(crusoe, ours, signal);
    },
  };
}
