// The laws of what becomes of machines after a launch: names of a batch, promises that are broken late, machines that rest.
import { nameAt } from '#core/id.ts';
import type { Backend, Machine, Outcome, Parking } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { type BackendLaw, faultOfCall, list, make } from './backend-laws.ts';
import { aLaunch, type BackendWorld, lawName, OURS, THEIRS } from './backend-world.ts';
import { demand, sameNames } from './demand.ts';

const batch = (count: number): string[] => Array.from({ length: count }, (_, at) => nameAt('m-law-pool1-batch000', at));
const nameOf = ({ name }: Machine): string => name;

/** Until the cloud has found out, and a little longer. */
async function waitFor(world: BackendWorld, backend: Backend, isSeen: (machines: readonly Machine[]) => boolean) {
  for (let rounds = 0; rounds < 20; rounds++) {
    const machines = await list(world, backend);
    if (isSeen(machines)) return machines;
    await world.settle();
  }
  return list(world, backend);
}

async function mustSucceed(world: BackendWorld, call: Promise<readonly Outcome[]>, what: string): Promise<void> {
  const fault = await faultOfCall(world.during(call));
  demand(!fault, `${what} failed: ${fault?.message}`);
}

async function parkAndWake(world: BackendWorld, backend: Backend, park: Parking): Promise<void> {
  await make(world, backend, aLaunch(OURS, batch(2)));
  await waitFor(world, backend, (all) => all.every(({ state }) => state === 'running'));
  const [resting, spared] = (await list(world, backend)) as [Machine, Machine];
  for (const _again of [1, 2]) await mustSucceed(world, park.suspend([resting], going()), 'stopping a machine');
  const stateOf = (all: readonly Machine[], name: string) => all.find((one) => one.name === name)?.state;
  const stopped = await waitFor(world, backend, (all) => stateOf(all, resting.name) === 'suspended');
  demand(stateOf(stopped, resting.name) === 'suspended', 'a machine that was stopped is not listed as suspended');
  demand(stateOf(stopped, spared.name) === 'running', 'another machine was stopped too');
  const [asleep] = stopped.filter(({ name }) => name === resting.name) as [Machine];
  for (const _again of [1, 2]) await mustSucceed(world, park.resume([asleep], going()), 'waking a machine');
  const awake = await waitFor(world, backend, (all) => stateOf(all, resting.name) === 'running');

  demand(stateOf(awake, resting.name) === 'running', 'a machine that was woken does not run');
  sameNames(awake.map(nameOf), [resting.name, spared.name], 'machines that rest and wake keep their names');
  demand((await world.existing()).length === 2, 'a machine that rested came back as another');
}

async function refusesTheirs(world: BackendWorld, park: Parking): Promise<void> {
  const theirs = await world.open(THEIRS);
  await make(world, theirs, aLaunch(THEIRS, [lawName('park', 'm-other-pool1')]));
  const [machine] = (await list(world, theirs)) as [Machine];
  for (const call of ['suspend', 'resume'] as const) {
    const fault = await faultOfCall(world.during(park[call]([machine], going())));
    demand(fault !== undefined, `${call} touched a machine of another cluster`);
  }
}

export const LIFE_LAWS: readonly BackendLaw[] = [
  {
    id: 'batch',
    name: 'makes names that differ only in their place, each once, and lists each under its own',
    async check(world) {
      const backend = await world.open(OURS);
      const launch = aLaunch(OURS, batch(5));
      await make(world, backend, launch);
      const again = await make(world, await world.open(OURS), launch);
      const listed = await list(world, backend);

      sameNames(listed.map(nameOf), again, 'the listing must hold each name of the batch');
      demand((await world.existing()).length === 5, 'a batch that is repeated must make nothing more');
    },
  },
  {
    id: 'late failure',
    name: 'tells of a machine that was promised and never came, until that was heard',
    async check(world) {
      demand(world.failLate, 'the harness must offer failLate, or excuse this law');
      const backend = await world.open(OURS);
      world.failLate?.();
      const launch = aLaunch(OURS, batch(1));
      const outcomes = await world.during(backend.create(launch, going()));
      // A cloud that knows at once may say so at once.
      if (outcomes.some(({ fault }) => fault)) return;
      const isTold = ({ trouble, state }: Machine): boolean => trouble?.final === true || state === 'failed';
      const machines = await waitFor(world, backend, (all) => all.some(isTold));
      const lost = machines.find(isTold);
      demand(lost !== undefined, 'a machine that never came vanished without a word');
      demand(lost?.trouble?.kind !== 'internal', 'the reason must say what is to be done about it');
      await mustSucceed(world, backend.delete([lost as Machine], going()), 'deleting what never came');
      const left = await waitFor(world, backend, (all) => all.length === 0);
      demand(left.length === 0, 'what never came and was deleted must not be listed for ever');
    },
  },
  {
    id: 'parks',
    name: 'stops machines and wakes them again, each under its name; repeating is safe, a foreign mark is refused',
    async check(world) {
      const backend = await (world.openParking ?? world.open)(OURS);
      const { park } = backend;
      if (!park && !world.openParking) return;
      demand(park, 'the kind says that it can keep machines, and offers no way');
      await parkAndWake(world, backend, park as Parking);
      await refusesTheirs(world, park as Parking);
    },
  },
];
