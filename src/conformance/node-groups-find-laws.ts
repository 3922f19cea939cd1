// The laws of node groups: finding them, and seeing them as they are.
import { HOUR_MS } from '#core/clock.ts';
import { isGroupRefusal, type NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import { aGroup, find, G, groupOf, growGroup, growthOf, H, look, type NodeGroupsLaw } from './node-groups-steps.ts';

export const NODE_GROUP_FIND_LAWS: readonly NodeGroupsLaw[] = [
  {
    id: 'finds',
    name: 'finds groups by their bare names, the same ones again, and says which there are where it finds none',
    async check(world) {
      await world.addGroup(G, 1);
      await world.addGroup(H, 0);
      const groups = await world.during(world.open());

      const found = await find(world, groups, [G, 'group-x', H]);
      const again = await groupOf(world);

      const [g, x, h] = [G, 'group-x', H].map((name) => found.get(name));
      demand(g && !isGroupRefusal(g) && h && !isGroupRefusal(h), 'does not find a group that is there');
      demand((g as NodeGroup).name === G && (g as NodeGroup).id !== (h as NodeGroup).id, 'takes two groups for one');
      demand((g as NodeGroup).id === again.id, 'gives the same group another id');
      demand(
        x && isGroupRefusal(x) && x.reason === 'GroupNotFound',
        'does not say GroupNotFound of a group that is not there',
      );
      demand(x && isGroupRefusal(x) && x.message.includes(G), 'does not name the groups that there are');
    },
  },
  {
    id: 'names both',
    name: 'refuses a name that fits two groups, and takes the one whose machine is a node at hand',
    async check(world) {
      const first = await aGroup(world, 1);
      const [machine] = (await look(world, first)).instances;
      await world.addGroup(G, 1, { elsewhere: true });
      const groups = await world.during(world.open());

      const unclear = (await find(world, groups, [G])).get(G);
      const known = (await find(world, groups, [G], [machine?.providerId ?? '', 'other://1'])).get(G);

      demand(
        unclear && isGroupRefusal(unclear) && unclear.reason === 'GroupAmbiguous',
        'takes one of two groups of a name',
      );
      demand(
        known && !isGroupRefusal(known) && known.id === first.id,
        'does not take the group whose machine is at hand',
      );
    },
  },
  {
    id: 'describes',
    name: 'says what its nodes will be, also while it has none',
    async check(world, { gpu }) {
      const { template } = await look(world, await aGroup(world, 0));

      const { allocatable } = template;
      demand((allocatable[gpu] ?? 0) >= 1, `the template has no ${gpu}`);
      demand((allocatable.cpu ?? 0) >= 1_000, 'the processors of the template are no thousandths of a processor');
      demand((allocatable.memory ?? 0) >= 2 ** 30, 'the memory of the template is not in bytes');
      const isWhole = Object.values(allocatable).every((amount) => Number.isSafeInteger(amount));
      demand(isWhole, 'an amount of the template is no whole number');
    },
  },
  {
    id: 'lists all',
    name: 'shows every machine of every page, each with an id of its own, and none of another group',
    async check(world, { many = 60 }) {
      const group = await aGroup(world, many);
      await world.addGroup(H, 2);

      const { instances, wanted } = await look(world, group);

      sameNames(
        instances.map(({ name }) => name),
        world.existing(G),
        'does not show its machines',
      );
      demand(wanted === many, `aims at ${wanted} and not at ${many}`);
      demand(new Set(instances.map(({ id }) => id)).size === many, 'two machines have one id');
      demand(new Set(instances.map(({ providerId }) => providerId)).size === many, 'two machines have one provider id');
      demand(
        instances.every(({ state }) => state === 'running'),
        'a running machine is not running',
      );
    },
  },
  {
    id: 'queues',
    name: 'queues for machines that end by themselves, shows what waits, and when those that came end',
    async check(world) {
      const group = await aGroup(world, 1);
      const { queue } = group;
      demand(queue, 'has no queue; give an excuse');
      const runForMs = Math.min(queue?.mostMs ?? HOUR_MS, Math.max(queue?.leastMs ?? 0, HOUR_MS));
      world.holdQueue();
      const growth = growthOf(await look(world, group), 2, { runForMs });
      for (let times = 0; times < 2; times++) await growGroup(world, group, growth);

      const waiting = await look(world, group);
      demand(waiting.instances.length === 1, 'a machine comes though its request waits');
      demand(waiting.wanted === 3, `aims at ${waiting.wanted} and not at 3 while two are waited for`);
      sameNames(
        waiting.requests.flatMap(({ names = [] }) => names),
        growth.names ?? [],
        'the requests that wait do not bear the names of their machines',
      );
      world.grant();
      await world.settle();

      const granted = await look(world, group);
      demand(granted.requests.length === 0, 'a request that was granted is still shown');
      const came = granted.instances.filter(({ name }) => growth.names?.includes(name));
      demand(came.length === 2, 'the machines that were waited for do not come');
      const isOver = came.every(({ endsAt = 0, createdAt }) => Math.abs(endsAt - createdAt - runForMs) <= 60_000);
      demand(isOver, 'does not show when its machines end');
    },
  },
  {
    id: 'others size it',
    name: 'refuses a group that another sizes, and changes nothing in it',
    async check(world) {
      const group = await aGroup(world, 2);
      const before = await look(world, group);
      world.autoscale?.(G);

      const { refusal } = await look(world, group);
      const grown = await demandFault(
        world.during(group.grow(growthOf(before, 1), going())),
        'grows a group that another sizes',
      );
      const removed = await world
        .during(group.remove([before.instances[0]?.id ?? ''], going()))
        .then((outcomes) => outcomes.every(({ fault }) => !fault))
        .catch(() => false);
      await world.settle();

      demand(refusal?.reason === 'GroupHasAutoscaler', 'does not say GroupHasAutoscaler');
      demand(refusal?.remedy !== '', 'does not say what to do about the autoscaler');
      demand(grown.kind === 'conflict', `refuses to grow as ${grown.kind} and not as a conflict`);
      demand(!removed, 'removes from a group that another sizes');
      demand(world.existing(G).length === 2 && world.sizeOf(G) === 2, 'changes a group that another sizes');
    },
  },
  {
    id: 'typed faults',
    name: 'throws a fault of the right kind when its cloud fails',
    async check(world, { faults = ['unavailable'] }) {
      const group = await aGroup(world, 1);
      for (const kind of faults) {
        world.fail(kind);
        const fault = await demandFault(world.during(group.describe(going())), 'the failure of its cloud is hidden');
        demand(fault.kind === kind, `a failure of kind ${kind} comes out as ${fault.kind}`);
      }
    },
  },
  {
    id: 'aborted',
    name: 'ends a call that its caller gives up',
    async check(world) {
      const group = await aGroup(world, 1);
      const growth = growthOf(await look(world, group), 1);
      world.hang();
      const giveUp = new AbortController();
      let isOver = false;
      const call = group.grow(growth, giveUp.signal).finally(() => {
        isOver = true;
      });
      call.catch(() => {});
      await world.settle();
      giveUp.abort();
      await world.settle();
      demand(isOver, 'a call that was given up goes on');

      await demandFault(world.during(call), 'a call that was given up succeeds');
    },
  },
];
