// The laws of node groups: what grows, shrinks and is made, exactly once and nothing else.
import {
  isGroupRefusal,
  type NewNodeGroup,
  type NodeGroup,
  type NodeGroupState,
  type NodeGroups,
} from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import { aGroup, find, G, groupOf, growGroup, growthOf, H, look, type NodeGroupsLaw } from './node-groups-steps.ts';
import type { NodeGroupsWorld } from './node-groups-world.ts';

function holds(world: NodeGroupsWorld, count: number, law: string): void {
  const [machines, size] = [world.existing(G).length, world.sizeOf(G)];
  demand(machines === count && size === count, `${law}: ${machines} machines, size ${size}, and not ${count}`);
}

async function remove(world: NodeGroupsWorld, group: NodeGroup, ids: readonly string[]) {
  const outcomes = await world.during(group.remove(ids, going()));
  await world.settle();
  return outcomes;
}

async function createIn(world: NodeGroupsWorld, groups: NodeGroups, wanted: NewNodeGroup): Promise<void> {
  await world.during((async () => groups.create?.(wanted, going()))());
  await world.settle();
}

/** What neither runs nor can come for want of stock: machines and requests alike. */
const without = ({ instances, requests }: NodeGroupState) => ({
  machines: instances.filter(({ state }) => state === 'creating' || state === 'failed'),
  requests,
});

export const NODE_GROUP_CHANGE_LAWS: readonly NodeGroupsLaw[] = [
  {
    id: 'grows',
    name: 'grows by what is asked for, under the names that were given, and keeps what there was',
    async check(world) {
      const group = await aGroup(world, 2);
      const before = world.existing(G);
      const growth = growthOf(await look(world, group), 3);

      await growGroup(world, group, growth);

      holds(world, 5, 'does not grow from 2 by 3');
      const added = world.existing(G).filter((name) => !before.includes(name));
      demand(added.length === 3, 'replaces machines that were there');
      if (growth.names) sameNames(added, growth.names, 'the new machines do not bear the names that were given');
      const { instances, requests } = await look(world, group);
      demand(requests.length === 0, 'shows a request for what has come');
      demand(
        instances.every(({ state }) => state === 'running'),
        'the new machines do not run',
      );
    },
  },
  {
    id: 'grows once',
    name: 'grows once when the same growth is repeated, by another server too; another growth adds to it',
    async check(world) {
      const group = await aGroup(world, 1);
      const growth = growthOf(await look(world, group), 2);
      await growGroup(world, group, growth);
      await growGroup(world, group, growth);
      await growGroup(world, await groupOf(world), growth);
      holds(world, 3, 'a repeated growth of 2 from 1');

      await growGroup(world, group, growthOf(await look(world, group), 1, { id: 'g2' }));

      holds(world, 4, 'another growth of 1 from 3');
    },
  },
  {
    id: 'lost reply',
    name: 'grows once when the reply is lost and the growth is repeated, at once and later',
    async check(world) {
      const group = await aGroup(world, 1);
      const growth = growthOf(await look(world, group), 2);
      world.loseNextReply();

      await world.during(group.grow(growth, going()).catch(() => {}));
      await world.during(group.grow(growth, going()));
      await world.settle();
      await growGroup(world, group, growth);

      holds(world, 3, 'a growth of 2 from 1 whose reply was lost');
    },
  },
  {
    id: 'never shrinks',
    name: 'never becomes smaller by a growth, even if the group is larger than that leads to',
    async check(world) {
      const group = await aGroup(world, 3);
      const state = await look(world, group);
      const before = world.existing(G);

      await world.during(group.grow({ ...growthOf(state, 1), to: 2 }, going()).catch(() => {}));
      await world.settle();

      const kept = world.existing(G).filter((name) => before.includes(name));
      sameNames(kept, before, 'a growth deletes machines');
      demand(world.sizeOf(G) >= 3, 'a growth lowers the size');
    },
  },
  {
    id: 'stock-out',
    name: 'shows what does not come and why, and is as large as what came once that is taken back',
    async check(world) {
      const group = await aGroup(world, 1);
      world.stock(1);

      const state = await look(world, group);
      await world.during(group.grow(growthOf(state, 3), going())).catch(() => {});
      await world.settle();

      const short = await look(world, group);
      const { machines, requests } = without(short);
      const running = short.instances.filter((one) => one.state === 'running').length;
      demand(running === 2, `${running} machines run and not 2, though one was in stock`);
      const troubles = [...machines, ...requests].map(({ trouble }) => trouble?.kind);
      demand(
        troubles.every((kind) => kind === 'exhausted' || kind === 'quota'),
        'does not say that there is no capacity',
      );
      const ids = (some: readonly { readonly id: string }[]): readonly string[] => some.map(({ id }) => id);
      if (requests.length > 0) await world.during(group.cancel(ids(requests), going()));
      if (machines.length > 0) await world.during(group.remove(ids(machines), going()));
      await world.settle();
      holds(world, 2, 'taking back what did not come');
    },
  },
  {
    id: 'cancels',
    name: 'cancels what waits in the queue, and nothing comes of it later; again is a success',
    async check(world) {
      const group = await aGroup(world, 1);
      demand(group.queue, 'has no queue; give an excuse');
      world.holdQueue();
      const runForMs = group.queue?.mostMs ?? 0;
      await growGroup(world, group, growthOf(await look(world, group), 3, { runForMs }));
      const { requests } = await look(world, group);
      const [kept, ...others] = requests.map(({ id }) => id);
      demand(others.length > 0 && kept, 'one request stands for machines that are cancelled one by one');

      for (let times = 0; times < 2; times++) {
        const outcomes = await world.during(group.cancel(others, going()));
        await world.settle();
        demand(
          outcomes.every(({ fault }) => !fault),
          'a cancelled request cannot be cancelled again',
        );
      }
      const state = await look(world, group);
      demand(state.wanted === 2 && state.requests.length === 1, 'what was cancelled still counts');
      world.grant();
      await world.settle();

      holds(world, 2, 'granting after two of three requests were cancelled');
    },
  },
  {
    id: 'removes',
    name: 'removes exactly the machines that are named, and none come in their place',
    async check(world) {
      const group = await aGroup(world, 4);
      const { instances } = await look(world, group);
      const [first, , third] = instances;

      const outcomes = await remove(world, group, [first?.id ?? '', third?.id ?? '']);

      demand(outcomes.length === 2 && outcomes.every(({ fault }) => !fault), 'does not say that it removed them');
      const kept = instances.filter((one) => one !== first && one !== third).map(({ name }) => name);
      sameNames(world.existing(G), kept, 'removes others than those named');
      holds(world, 2, 'removing 2 of 4');
      demand((await look(world, group)).wanted === 2, 'still aims at what it removed');
    },
  },
  {
    id: 'removes once',
    name: 'a repeated removal, also after a lost reply, takes nothing more and lowers the size once',
    async check(world) {
      const group = await aGroup(world, 4);
      const { instances } = await look(world, group);
      const ids = instances.slice(0, 2).map(({ id }) => id);
      world.loseNextReply();
      await world.during(group.remove(ids, going()).catch(() => {}));
      await world.during(group.remove(ids, going()));
      await world.settle();

      const outcomes = await remove(world, await groupOf(world), ids);

      demand(
        outcomes.every(({ fault }) => !fault),
        'a machine that is gone cannot be removed again',
      );
      holds(world, 2, 'removing 2 of 4 three times');
    },
  },
  {
    id: 'only its own',
    name: 'refuses machines of another group, and removes none of them',
    async check(world) {
      const group = await aGroup(world, 2);
      const other = await aGroup(world, 2, H);
      const [foreign] = (await look(world, other)).instances;

      const outcomes = await remove(world, group, [foreign?.id ?? '']).catch(() => []);

      demand(
        outcomes.every(({ fault }) => fault),
        'says that it removed a machine of another group',
      );
      demand(world.existing(H).length === 2 && world.sizeOf(H) === 2, 'removes a machine of another group');
      holds(world, 2, 'removing a machine of another group');
    },
  },
  {
    id: 'creates',
    name: 'makes a group of size 0 for a provisioner, the same again, and never takes over a group of others',
    async check(world, { template = '' }) {
      await world.addGroup(H, 1);
      const groups = await world.during(world.open());
      demand(groups.create, 'cannot make groups; give an excuse');
      const create = (name: string) => createIn(world, groups, { name, template, provisioner: 'h100' });
      for (let times = 0; times < 2; times++) await create(G);

      const group = await groupOf(world);
      const { wanted: size } = await look(world, group);
      const taken = await demandFault(create(H), 'takes over a group of others');

      demand(group.madeFor === 'h100', 'does not know whom it made the group for');
      demand(size === 0, 'the new group has machines');
      demand(taken.kind === 'conflict', `refuses a group of others as ${taken.kind} and not as a conflict`);
      demand((await groupOf(world, H)).madeFor === undefined, 'says that it made a group of others');
    },
  },
  {
    id: 'drops',
    name: 'drops only empty groups that it made; one that is gone is a success',
    async check(world, { template = '' }) {
      await world.addGroup(H, 0);
      const groups = await world.during(world.open());
      demand(groups.create && groups.drop, 'cannot make and drop groups; give an excuse');
      const drop = (name: string) => world.during(groups.drop?.(name, going()) ?? Promise.resolve());
      await createIn(world, groups, { name: G, template, provisioner: 'h100' });
      const group = await groupOf(world);
      await growGroup(world, group, growthOf(await look(world, group), 1));

      await demandFault(drop(G), 'drops a group that has machines');
      await demandFault(drop(H), 'drops a group of others');
      const { instances } = await look(world, group);
      await remove(
        world,
        group,
        instances.map(({ id }) => id),
      );
      for (let times = 0; times < 2; times++) {
        await drop(G);
        await world.settle();
      }

      const found = await find(world, await world.during(world.open()), [G, H]);
      const [g, h] = [found.get(G), found.get(H)];
      demand(g && isGroupRefusal(g) && g.reason === 'GroupNotFound', 'a dropped group is still there');
      demand(h && !isGroupRefusal(h), 'a group of others is gone');
    },
  },
];
