// The laws of a runtime host: what the life of a runtime relies on, wherever its objects are.

import type { RuntimeHost, RuntimeObservation, RuntimeRequest } from '#core/runtime-host.ts';
import { going } from '#core/testing/going.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import type { RuntimeHostLawId, RuntimeHostSubject, RuntimeHostWorld } from './runtime-host-world.ts';
import type { Law } from './suite.ts';

export type RuntimeHostLaw = Law<RuntimeHostLawId, RuntimeHostWorld, RuntimeHostSubject>;

const requestOf = (id: string, slots = 2, version = '1.0.0'): RuntimeRequest => ({
  id,
  slots,
  version,
  annotations: { org: 'acme' },
  environment: 'prod',
});
const A = requestOf('a');
const B = requestOf('b');

const observe = (world: RuntimeHostWorld, host: RuntimeHost, request = A): Promise<RuntimeObservation> =>
  world.during(host.observe(request, going()));

const MOST_TRIES = 5;

/** Applies it, again where the place asks for patience, and lets it come up. */
async function apply(world: RuntimeHostWorld, host: RuntimeHost, request = A) {
  for (let tries = 1; ; tries++) {
    const done = await world.during(host.apply(request, going())).catch((thrown: unknown) => {
      if (tries === MOST_TRIES) throw thrown;
    });
    await world.settle();
    if (done) return done;
  }
}

async function ready(world: RuntimeHostWorld, host: RuntimeHost, request = A): Promise<void> {
  const { state, why } = await observe(world, host, request);
  demand(state === 'ready', `the runtime is ${state} and not ready: ${why ?? 'it does not say why'}`);
}

const opened = (world: RuntimeHostWorld): Promise<RuntimeHost> => world.during(world.open());

const list = (world: RuntimeHostWorld, host: RuntimeHost): Promise<readonly string[]> =>
  world.during(host.list(going()));

export const RUNTIME_HOST_LAWS: readonly RuntimeHostLaw[] = [
  {
    id: 'absent',
    name: 'says of a runtime that was never applied that it is absent',
    async check(world) {
      const host = await opened(world);

      const { state } = await observe(world, host);

      demand(state === 'absent', `a runtime that was never applied is ${state}`);
      sameNames(await list(world, host), [], 'lists runtimes that were never applied');
    },
  },
  {
    id: 'renders only',
    name: 'renders without making anything; equal requests have equal digests, others have others',
    async check(world) {
      const host = await opened(world);
      const before = world.revision();

      const [one, same, other, third] = await Promise.all(
        [A, A, requestOf('a', 3), requestOf('a', 2, '1.1.0')].map((request) => world.during(host.render(request))),
      );
      await world.settle();

      demand(world.revision() === before, 'rendering writes');
      demand(one?.digest === same?.digest, 'the digest of an equal request differs');
      demand(one?.digest !== other?.digest, 'the digest does not change with the slots');
      demand(one?.digest !== third?.digest, 'the digest does not change with the version');
    },
  },
  {
    id: 'applies',
    name: 'makes what it renders, with the grant and the digest that it renders',
    async check(world) {
      const host = await opened(world);
      const rendered = await world.during(host.render(A));

      const { digest, grant } = await apply(world, host);

      await ready(world, host);
      demand(digest === rendered.digest, 'applies another digest than it renders');
      demand(JSON.stringify(grant) === JSON.stringify(rendered.grant), 'grants something else than it renders');
      demand((await observe(world, host)).digest === digest, 'does not see the digest that it applied');
      sameNames(await list(world, host), ['a'], 'does not list what it applied');
    },
  },
  {
    id: 'repeats',
    name: 'applied again, by another process too, it writes nothing and makes nothing twice',
    async check(world) {
      await apply(world, await opened(world));
      const [before, names] = [world.revision(), world.existing()];

      const host = await opened(world);
      await apply(world, host);

      sameNames(world.existing(), names, 'a repeated apply makes or removes something');
      demand(world.revision() === before, 'a repeated apply writes');
      await ready(world, host);
    },
  },
  {
    id: 'changes',
    name: 'applied with other values it becomes what these give',
    async check(world) {
      const host = await opened(world);
      await apply(world, host);
      const next = requestOf('a', 3, '1.1.0');

      const stale = await observe(world, host, next);
      const { grant } = await apply(world, host, next);

      demand(stale.state !== 'ready', 'says ready of what was not applied yet');
      demand(grant.cpu === 3, 'grants the old size');
      await ready(world, host, next);
      sameNames(await list(world, host), ['a'], 'another size is another runtime');
    },
  },
  {
    id: 'answers',
    name: 'is not ready while the runtime does not answer, and says what it waits for',
    async check(world) {
      const host = await opened(world);
      world.silence();
      await apply(world, host);

      const { state, why } = await observe(world, host);

      demand(state === 'coming' || state === 'failed', `a runtime that does not answer is ${state}`);
      demand(why !== undefined && why !== '', 'does not say what it waits for');
    },
  },
  {
    id: 'repairs',
    name: 'sees what others removed or changed, and puts it right when it is applied again',
    async check(world) {
      const host = await opened(world);
      await apply(world, host);
      await world.damage('a');

      const { state, why } = await observe(world, host);

      demand(state === 'drifted' || state === 'absent', `a damaged runtime is ${state}`);
      demand(state === 'absent' || why, 'does not say what differs');
      await apply(world, host);
      await ready(world, host);
    },
  },
  {
    id: 'only grows',
    name: 'never takes storage away, and grants what there is',
    async check(world) {
      const host = await opened(world);
      const large = await apply(world, host, requestOf('a', 4));
      const data = world.dataOf('a');

      const small = await apply(world, host, requestOf('a', 1));

      demand(small.grant.cpu === 1, 'does not shrink the processors');
      demand(small.grant.storageBytes === large.grant.storageBytes, 'grants less storage than there is');
      demand(world.dataOf('a') === data, 'loses the data when it shrinks');
      await ready(world, host, requestOf('a', 1));
    },
  },
  {
    id: 'hibernates',
    name: 'hibernates with its data alone, and wakes with the same',
    async check(world) {
      const host = await opened(world);
      demand(host.hibernate, 'cannot hibernate; give an excuse');
      await apply(world, host);
      const data = world.dataOf('a');
      for (let times = 0; times < 2; times++) {
        await world.during(host.hibernate?.('a', going()) ?? Promise.resolve());
        await world.settle();
      }

      const { state } = await observe(world, host);
      demand(state === 'hibernated', `a hibernated runtime is ${state}`);
      demand(world.dataOf('a') === data && data !== undefined, 'loses the data when it hibernates');
      sameNames(await list(world, host), ['a'], 'does not list what hibernates');
      await apply(world, host);
      await ready(world, host);
      demand(world.dataOf('a') === data, 'wakes with other data');
    },
  },
  {
    id: 'releases',
    name: 'removes everything of a runtime, data too, and nothing of another; again is a success',
    async check(world) {
      const host = await opened(world);
      await apply(world, host, B);
      const others = world.existing();
      await apply(world, host);

      for (let times = 0; times < 2; times++) {
        await world.during(host.release('a', going()));
        await world.settle();
      }

      demand((await observe(world, host)).state === 'absent', 'something of a released runtime is left');
      sameNames(world.existing(), others, 'a release leaves something, or takes something of another');
      await ready(world, host, B);
    },
  },
  {
    id: 'only ours',
    name: 'neither lists nor removes what it did not make',
    async check(world) {
      const host = await opened(world);
      await world.addForeign();
      const foreign = world.existing();

      const listed = await list(world, host);
      await apply(world, host);
      await world.during(host.release('a', going()));
      await world.settle();

      sameNames(listed, [], 'lists what it did not make');
      sameNames(world.existing(), foreign, 'removes what it did not make');
    },
  },
  {
    id: 'typed faults',
    name: 'throws a fault of the right kind when its place fails',
    async check(world, { faults = ['unavailable'] }) {
      const host = await opened(world);
      for (const kind of faults) {
        world.fail(kind);
        const fault = await demandFault(world.during(host.observe(A, going())), 'the failure of its place is hidden');
        demand(fault.kind === kind, `a failure of kind ${kind} comes out as ${fault.kind}`);
      }
    },
  },
  {
    id: 'aborted',
    name: 'ends a call that its caller gives up',
    async check(world) {
      const host = await opened(world);
      world.hang();
      const giveUp = new AbortController();
      let isOver = false;
      const call = host.apply(A, giveUp.signal).finally(() => {
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
