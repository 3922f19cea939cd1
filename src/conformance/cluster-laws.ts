// The laws of a cluster's access: what the Kubernetes client relies on, wherever the credentials come from.

import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import { going } from '#core/testing/going.ts';
import type { ClusterLawId, ClusterSubject, ClusterWorld } from './cluster-world.ts';
import { demand, demandFault } from './demand.ts';
import type { Law } from './suite.ts';

export type ClusterLaw = Law<ClusterLawId, ClusterWorld, ClusterSubject>;

const ask = (world: ClusterWorld, access: ClusterAccess, signal = going()): Promise<ClusterCredential> =>
  world.during(access.credential(signal));

function keepsSecrets(world: ClusterWorld, text: string, where: string): void {
  const shown = world.secrets.some((secret) => text.includes(secret));
  demand(!shown, `${where} shows a secret`);
}

const MANY = 5;
const LIFETIMES = 3;
const LAST_MOMENTS_MS = 3_000;

export const CLUSTER_LAWS: readonly ClusterLaw[] = [
  {
    id: 'address',
    name: 'names an address that paths can be appended to, and shows no secret in it or in its id',
    async check(world) {
      const { server, id } = await world.during(world.open());

      demand(URL.canParse(server) && /^https?:/.test(server), `the address is no URL: ${server}`);
      demand(!server.endsWith('/') && !/[?#]/.test(server), `paths cannot be appended to ${server}`);
      demand(id !== '', 'the id is empty');
      keepsSecrets(world, `${server} ${id}`, 'the address or the id');
    },
  },
  {
    id: 'same id',
    name: 'has the same id and address when it is opened anew, and with rotated credentials too',
    async check(world) {
      const before = await world.during(world.open());
      await world.rotate();
      const after = await world.during(world.open());

      demand(before.id === after.id, `the id changes from ${before.id} to ${after.id}`);
      demand(before.server === after.server, `the address changes from ${before.server} to ${after.server}`);
    },
  },
  {
    id: 'accepted',
    name: 'gives a credential that the API server takes',
    async check(world) {
      const credential = await ask(world, await world.during(world.open()));

      demand(world.accepts(credential), 'the API server refuses the credential');
    },
  },
  {
    id: 'memory',
    name: 'answers from memory while the credential is good',
    async check(world) {
      demand(world.asked, 'the world does not count questions; give an excuse where asking costs nothing');
      const access = await world.during(world.open());
      const first = await ask(world, access);
      const asked = world.asked?.() ?? 0;
      for (let at = 0; at < MANY; at++) {
        const next = await ask(world, access);
        demand(next === first, 'the same credential comes as another object, so connections are not kept');
      }

      demand(world.asked?.() === asked, 'asks for a credential again while it has a good one');
    },
  },
  {
    id: 'refused',
    name: 'gives another credential after one was refused',
    async check(world) {
      const access = await world.during(world.open());
      const before = await ask(world, access);
      await world.rotate();
      demand(!world.accepts(before), 'the world still takes the old credential');
      access.refused?.();
      const after = await ask(world, access);

      demand(world.accepts(after), 'gives the refused credential again');
    },
  },
  {
    id: 'one renewal',
    name: 'renews once, however many wait for it',
    async check(world) {
      demand(world.asked, 'the world does not count questions; give an excuse where asking costs nothing');
      const access = await world.during(world.open());
      await ask(world, access);
      await world.rotate();
      access.refused?.();
      const asked = world.asked?.() ?? 0;
      const all = await world.during(Promise.all(Array.from({ length: MANY }, () => access.credential(going()))));

      demand(
        all.every((credential) => world.accepts(credential)),
        'not all who waited got a good credential',
      );
      demand((world.asked?.() ?? 0) - asked === 1, `asked ${(world.asked?.() ?? 0) - asked} times for one renewal`);
    },
  },
  {
    id: 'expires',
    name: 'renews a credential before it expires: what it gives is good for a while yet',
    async check(world) {
      const { lifetimeMs } = world;
      demand(lifetimeMs !== undefined, 'credentials of this world never expire; give an excuse if that is so');
      const access = await world.during(world.open());
      for (let at = 0; at < LIFETIMES; at++) {
        await ask(world, access);
        await world.pass((lifetimeMs ?? 0) - LAST_MOMENTS_MS);
        const credential = await ask(world, access);
        demand(world.accepts(credential), 'gives an expired credential');
        // A request that leaves with it is answered some seconds later.
        await world.pass(2 * LAST_MOMENTS_MS);
        demand(world.accepts(credential), 'gives a credential that expires on its way');
        await world.pass((lifetimeMs ?? 0) * 2);
        demand(world.accepts(await ask(world, access)), 'gives an expired credential after a quiet time');
      }
    },
  },
  {
    id: 'typed faults',
    name: 'names each failure by what is to be done about it, and says where',
    async check(world, { faults = [] }) {
      demand(
        world.fail && faults.length > 0,
        'the world cannot fail in ways it names; give an excuse if that cannot be',
      );
      for (const kind of faults) {
        await world.fail?.(kind);
        const call = world.open().then((access) => access.credential(going()));
        const fault = await demandFault(world.during(call), `gives a credential although the place fails as ${kind}`);
        demand(fault.kind === kind, `${kind} comes out as ${fault.kind}`);
        const text = `${fault.message} ${fault.remedy} ${fault.at ?? ''}`;
        demand(text.includes(world.place), `the fault does not say where: ${fault.message}`);
        keepsSecrets(world, text, 'a fault');
      }
    },
  },
  {
    id: 'aborted',
    name: 'does not answer a question that was given up before it began',
    async check(world) {
      const access = await world.during(world.open());

      await demandFault(ask(world, access, AbortSignal.abort()), 'answered a question that was given up');
    },
  },
  {
    id: 'hangs',
    name: 'ends a question as soon as its signal is aborted, also while the place does not answer',
    async check(world) {
      demand(world.hang, 'the world cannot hang; give an excuse if that cannot be');
      const access = await world.during(world.open());
      await ask(world, access);
      await world.hang?.();
      access.refused?.();
      const giveUp = new AbortController();
      const call = access.credential(giveUp.signal);
      call.catch(() => {});
      await Promise.resolve();
      giveUp.abort();

      await demandFault(world.during(call), 'answered although the place did not');
      await access.close?.();
    },
  },
  {
    id: 'secrets',
    name: 'keeps credentials out of the log',
    async check(world, { faults = [] }) {
      const access = await world.during(world.open());
      await ask(world, access);
      await world.rotate();
      access.refused?.();
      await ask(world, access);
      for (const kind of faults) {
        await world.fail?.(kind);
        access.refused?.();
        await ask(world, access).catch(() => undefined);
      }

      keepsSecrets(world, world.logged(), 'the log');
    },
  },
  {
    id: 'closes',
    name: 'leaves nothing behind when it is closed, in the middle of a question too; closing twice is no error',
    async check(world) {
      demand(world.left && world.hang, 'the world does not see what is left; give an excuse where nothing can be');
      const access = await world.during(world.open());
      await ask(world, access);
      await world.hang?.();
      access.refused?.();
      const call = access.credential(going());
      call.catch(() => {});
      await world.pass(10);
      await access.close?.();
      await access.close?.();

      await demandFault(world.during(call), 'answered although it was closed');
      const left = (await world.left?.()) ?? 0;
      demand(left === 0, `${left} things are left after closing`);
    },
  },
];
