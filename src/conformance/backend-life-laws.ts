// The laws of what becomes of machines after a launch: names of a batch, creations that end or fail late, machines that rest.
import { nameAt } from '#core/id.ts';
import type { Backend, Machine, Outcome, Parking, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { type BackendLaw, endOfCreate, faultOfCall, list, make } from './backend-laws.ts';
import { aLaunch, type BackendWorld, lawName, markOf, OURS, THEIRS } from './backend-world.ts';
import { demand, sameNames } from './demand.ts';

const batch = (count: number): string[] => Array.from({ length: count }, (_, at) => nameAt('m-law-pool1-batch000', at));
// More than are asked for one by one where a cloud's calls are few.
const MANY = 7;
const nameOf = ({ name }: Machine): string => name;

/** Until the cloud has found out, and a little longer. */
export async function waitFor(
  world: BackendWorld,
  backend: Backend,
  isSeen: (machines: readonly Machine[]) => boolean,
) {
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

/** The machine that a listing shows as failed. */
async function failedIn(world: BackendWorld, backend: Backend): Promise<Machine> {
  const isTold = ({ trouble, state }: Machine): boolean => trouble?.final === true || state === 'failed';
  const lost = (await waitFor(world, backend, (all) => all.some(isTold))).find(isTold);
  demand(lost !== undefined, 'a machine that never came vanished without a word');
  demand(lost?.trouble?.kind !== 'internal', 'the reason must say what is to be done about it');
  return lost as Machine;
}

/** The machine whose operation failed, as the program would have it deleted. Two servers ask, each of them twice. */
async function failedBy(world: BackendWorld, pending: PendingCreate): Promise<Machine> {
  for (const backend of [await world.open(OURS), await world.open(OURS)]) {
    for (const time of ['', ' when asked again']) {
      const ended = await endOfCreate(world, backend, pending);
      demand(ended?.fault, `a machine that never came is called ${ended ? 'made' : 'unknown'}${time}`);
      demand(ended?.fault?.kind !== 'internal', 'the reason must say what is to be done about it');
    }
  }
  return { name: pending.name, mark: markOf(OURS), createdAt: 0, state: 'creating' };
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
    id: 'pending',
    name: 'tells of every creation that was pending how it ended, and lists what it calls made',
    async check(world) {
      const backend = await world.open(OURS);
      const launch = aLaunch(OURS, batch(2));
      const answers = await world.during(backend.create(launch, going()));
      for (const { name, operation } of answers) {
        const ended = operation === undefined ? undefined : await endOfCreate(world, backend, { name, operation });
        demand(!ended?.fault, `${name} is called failed: ${ended?.fault?.message}`);
      }
      const made = answers.map(({ name, machine }) => machine ?? name);
      const listed = await waitFor(world, backend, (all) => all.length === made.length);

      sameNames(listed.map(nameOf), made, 'the listing must hold what was pending and is made');
    },
  },
  {
    id: 'late failure',
    name: 'tells of a machine that the cloud agreed to make and did not, to any server that asks',
    async check(world) {
      demand(world.failLate, 'the harness must offer failLate, or excuse this law');
      const backend = await world.open(OURS);
      world.failLate?.();
      const [name = ''] = batch(1);
      const [outcome] = await world.during(backend.create(aLaunch(OURS, [name]), going()));
      // A cloud that knows at once may say so at once.
      if (outcome?.fault) return;
      const operation = outcome?.operation;
      const lost =
        operation === undefined ? await failedIn(world, backend) : await failedBy(world, { name, operation });
      await mustSucceed(world, backend.delete([lost], going()), 'deleting what never came');
      const left = await waitFor(world, backend, (all) => all.length === 0);
      demand(left.length === 0, 'what never came and was deleted must not be listed for ever');
    },
  },
  {
    id: 'unlisted',
    name: 'calls no machine gone that runs and that listings leave out: it deletes it, or says why it did not',
    async check(world, { findsNames = true }) {
      const backend = await world.open(OURS);
      if (backend.isExact) return;
      demand(world.hideFromListings, 'the harness must offer hideFromListings, or excuse this law');
      await make(world, backend, aLaunch(OURS, batch(MANY * 2)));
      const machines = await list(world, backend);
      world.hideFromListings?.();
      const nameless = (machine: Machine): Machine => (findsNames ? { ...machine, id: undefined } : machine);
      const [some, others] = [machines.slice(0, MANY), machines.slice(MANY).map(nameless)];
      const restarted = await world.open(OURS);
      for (const asked of [some, others, [...some, ...others]]) {
        const outcomes = await world.during(restarted.delete(asked, going()));
        await world.settle();
        const refused = outcomes.filter(({ fault }) => fault !== undefined).length;
        const left = (await world.existing()).length - (asked === some ? others.length : 0);
        demand(left <= refused, `${left - refused} machines were called gone, and still run`);
      }
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
