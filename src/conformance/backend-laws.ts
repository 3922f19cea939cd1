// The laws of a backend: what the rest of the program relies on whatever the cloud.

import { chunked } from '#core/chunked.ts';
import { Fault, type FaultKind, isUnclear } from '#core/fault.ts';
import { type Backend, type Machine, type Mark, type Outcome, type PendingCreate, USES } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import {
  aLaunch,
  type BackendHarness,
  type BackendWorld,
  type LawId,
  lawName,
  markOf,
  OURS,
  PLANTED_TOKEN,
  THEIRS,
} from './backend-world.ts';
import { demand, sameNames } from './demand.ts';
import type { Law } from './suite.ts';

export type BackendLaw = Law<LawId, BackendWorld, BackendHarness>;

const names = (count: number, stem?: string): string[] =>
  Array.from({ length: count }, (_, at) => lawName(String(at), stem));
const machineName = ({ name, machine }: Outcome): string => machine ?? name;

/** Checks a pending creation until it has ended; nothing where the backend does not know. */
export async function endOfCreate(
  world: BackendWorld,
  backend: Backend,
  { name, operation }: PendingCreate,
): Promise<Outcome | undefined> {
  demand(backend.check, 'create answers an operation, and there is no check');
  let pending = { name, operation };
  for (let rounds = 0; rounds < 20; rounds++) {
    const [outcome] = await world.during(backend.check?.([pending], going()) ?? Promise.resolve([]));
    if (outcome?.operation === undefined) return outcome;
    demand(!outcome.fault, `${name} is called pending, and failed too`);
    pending = { name, operation: outcome.operation };
    await world.settle();
  }
  demand(false, `${name} is pending for ever`);
  return undefined;
}

/** Makes machines and lets the cloud come to rest; answers what the backend calls them. */
export async function make(world: BackendWorld, backend: Backend, launch = aLaunch(OURS, names(1))): Promise<string[]> {
  const answers = await world.during(backend.create(launch, going()));
  const outcomes: Outcome[] = [];
  for (const { name, operation, ...answer } of answers) {
    const ended = operation === undefined ? undefined : await endOfCreate(world, backend, { name, operation });
    outcomes.push({ name, ...answer, ...ended });
  }
  for (const { name, fault } of outcomes) demand(!fault, `${name} was not made: ${fault?.message}`);
  sameNames(
    outcomes.map(({ name }) => name),
    launch.names,
    'a create that succeeds must tell the outcome of each name',
  );
  await world.settle();
  return outcomes.map(machineName);
}

export async function list(world: BackendWorld, backend: Backend): Promise<readonly Machine[]> {
  return world.during(backend.list(going()));
}

const nameOf = ({ name }: Machine): string => name;

/** The fault of a call, thrown or in an outcome. */
export async function faultOfCall(call: Promise<readonly Outcome[] | readonly Machine[]>): Promise<Fault | undefined> {
  try {
    const answer = await call;
    return answer.flatMap((one) => ('fault' in one && one.fault ? [one.fault] : []))[0];
  } catch (thrown) {
    demand(thrown instanceof Fault, `threw something that is no Fault: ${String(thrown)}`);
    return thrown as Fault;
  }
}

export const BACKEND_LAWS: readonly BackendLaw[] = [
  {
    id: 'lists all',
    name: 'lists all that it made, every page of it, with the marks it was given',
    async check(world, { many = 3, canMark = true }) {
      const backend = await world.open(OURS);
      const made: string[] = [];
      for (const part of chunked(names(many), 50)) made.push(...(await make(world, backend, aLaunch(OURS, part))));
      const machines = await list(world, backend);

      sameNames(machines.map(nameOf), made, 'the listing must hold what was made, each once');
      for (const { name, mark, state } of machines) {
        demand(state === 'creating' || state === 'running', `${name} is listed as ${state}`);
        const isRight = canMark ? isSameMark(mark, markOf(OURS)) : mark === undefined;
        demand(isRight, `${name} is listed with the mark ${JSON.stringify(mark)}`);
      }
    },
  },
  {
    id: 'makes once',
    name: 'makes nothing twice, however often and however simultaneously a launch is repeated',
    async check(world) {
      const launch = aLaunch(OURS, names(2));
      const backend = await world.open(OURS);
      const twin = await world.open(OURS);
      const calls = [backend, twin, backend].map((one) => world.during(one.create(launch, going())));
      await Promise.all(calls.map((call) => call.catch(() => [])));
      await world.settle();
      await make(world, await world.open(OURS), launch);

      const existing = await world.existing();
      demand(existing.length === 2, `2 machines were asked for, again and again; ${existing.length} exist`);
    },
  },
  {
    id: 'lost reply',
    name: 'makes nothing twice after a lost reply',
    async check(world) {
      demand(world.loseReply, 'the harness must offer loseReply, or excuse this law');
      const launch = aLaunch(OURS, names(2));
      const backend = await world.open(OURS);
      world.loseReply?.();
      const answer = await world.during(backend.create(launch, going())).catch((thrown: unknown) => Fault.from(thrown));
      if (answer instanceof Fault)
        demand(isUnclear(answer.kind), `a lost reply was reported as ${answer.kind}, a clear failure`);
      else demand(!answer.some(({ fault }) => fault), 'a name whose reply was lost must be left out');
      await world.settle();
      const found = await list(world, backend);
      demand(found.length === 2, `the listing shows ${found.length} of the 2 machines whose creation was not answered`);
      await make(world, await world.open(OURS), launch);

      const existing = await world.existing();
      demand(existing.length === 2, `2 machines were asked for, twice; ${existing.length} exist`);
    },
  },
  {
    id: 'sees its own',
    name: 'sees only the machines of its own cluster',
    async check(world) {
      await make(world, await world.open(THEIRS), aLaunch(THEIRS, names(2, 'm-other-pool1')));
      const ours = await world.open(OURS);
      const made = await make(world, ours);

      sameNames((await list(world, ours)).map(nameOf), made, 'the listing must hold nothing of another cluster');
    },
  },
  {
    id: 'foreign mark',
    name: 'refuses to delete what bears a foreign mark',
    async check(world) {
      const theirs = await world.open(THEIRS);
      const [name = ''] = await make(world, theirs, aLaunch(THEIRS, names(1, 'm-other-pool1')));
      const ours = await world.open(OURS);
      const machine = (await list(world, theirs)).find((one) => one.name === name) as Machine;
      const fault = await faultOfCall(world.during(ours.delete([machine], going())));
      await world.settle();

      demand(fault !== undefined, 'deleting a machine of another cluster must be refused');
      demand((await world.existing()).length === 1, 'a machine of another cluster was deleted');
    },
  },
  {
    id: 'true mark',
    name: 'believes the mark in the cloud, not the one it is shown',
    async check(world) {
      const theirs = await world.open(THEIRS);
      const [name = ''] = await make(world, theirs, aLaunch(THEIRS, names(1, 'm-other-pool1')));
      const ours = await world.open(OURS);
      const disguised: Machine = { name, mark: markOf(OURS), createdAt: 0, state: 'running' };
      await faultOfCall(world.during(ours.delete([disguised], going())));
      await world.settle();

      demand((await world.existing()).length === 1, 'a machine of another cluster was deleted under a borrowed mark');
    },
  },
  {
    id: 'uses',
    name: 'lists each machine with the use that it was created for',
    async check(world, { canMark = true }) {
      const backend = await world.open(OURS);
      for (const use of USES) {
        const launch = aLaunch(OURS, names(1, `${use === 'worker' ? 'm' : 'c'}-use-pool1`), `launch-${use}`);
        await make(world, backend, { ...launch, mark: markOf(OURS, use) });
      }
      await world.settle();
      const found = (await list(world, backend)).map(({ mark }) => mark?.use);
      const wanted = canMark ? [...USES] : USES.map(() => undefined);
      demand(found.toSorted().join() === wanted.toSorted().join(), `uses ${found.join()} in place of ${wanted.join()}`);
    },
  },
  {
    id: 'deletes',
    name: 'deletes what it is asked to and nothing else; deleting twice, or what never was, is no error',
    async check(world) {
      const backend = await world.open(OURS);
      const made = await make(world, backend, aLaunch(OURS, names(3)));
      const [doomed, ...spared] = await list(world, backend);
      const never: Machine = { ...(doomed as Machine), name: lawName('never'), id: undefined };
      for (const machines of [[doomed as Machine], [doomed as Machine], [never]]) {
        const fault = await faultOfCall(world.during(backend.delete(machines, going())));
        demand(!fault, `deleting ${machines[0]?.name} failed: ${fault?.message}`);
        await world.settle();
      }

      const left = (await list(world, backend)).filter(({ state }) => state !== 'deleting').map(nameOf);
      sameNames(left, spared.map(nameOf), 'exactly what was deleted must be missing from the listing');
      demand((await world.existing()).length === made.length - 1, 'exactly one machine must be gone');
    },
  },
  {
    id: 'aborted',
    name: 'does nothing once its signal is aborted',
    async check(world) {
      const backend = await world.open(OURS);
      await make(world, backend);
      const [machine] = await list(world, backend);
      const stopped = AbortSignal.abort();
      const calls: readonly (readonly [string, () => Promise<readonly Machine[] | readonly Outcome[]>])[] = [
        ['list', () => backend.list(stopped)],
        ['create', () => backend.create(aLaunch(OURS, [lawName('late')]), stopped)],
        ['delete', () => backend.delete([machine as Machine], stopped)],
        [
          'check',
          () =>
            backend.check?.([{ name: lawName('late'), operation: 'any' }], stopped) ??
            Promise.reject(new Fault('unsupported', 'nothing is ever pending')),
        ],
      ];
      for (const [call, run] of calls) {
        const fault = await faultOfCall(world.during(run()));
        demand(fault !== undefined, `${call} went on although its signal was aborted`);
      }
      await world.settle();

      demand((await world.existing()).length === 1, 'an aborted call made or deleted something');
    },
  },
  {
    id: 'hangs',
    name: 'gives up a call that hangs as soon as its signal is aborted',
    async check(world) {
      demand(world.hang, 'the harness must offer hang, or excuse this law');
      const backend = await world.open(OURS);
      world.hang?.();
      for (const call of ['list', 'create'] as const) {
        const stopping = new AbortController();
        const running =
          call === 'list' ? backend.list(stopping.signal) : backend.create(aLaunch(OURS, names(1)), stopping.signal);
        const settled = world.during(faultOfCall(running));
        stopping.abort();
        demand((await settled) !== undefined, `${call} answered although the cloud did not`);
      }
    },
  },
  {
    id: 'lists in part',
    name: 'throws rather than listing in part',
    async check(world, { many = 3 }) {
      demand(world.breakListing, 'the harness must offer breakListing, or excuse this law');
      const backend = await world.open(OURS);
      for (const part of chunked(names(many), 50)) await make(world, backend, aLaunch(OURS, part));
      world.breakListing?.();
      const fault = await faultOfCall(world.during(backend.list(going())));

      demand(fault !== undefined, 'a listing that failed half way was answered as if it were whole');
    },
  },
  {
    id: 'typed faults',
    name: 'tells every failure of the cloud as what it is',
    async check(world, { faults }) {
      demand(faults && world.fail, 'the harness must offer fail and name its faults, or excuse this law');
      for (const [at, kind] of (faults ?? []).entries()) await checkFault(world, kind, lawName(`fault${at}`));
    },
  },
  {
    id: 'secrets',
    name: 'lets no secret reach a log or a fault',
    async check(world, { faults = [] }) {
      const backend = await world.open(OURS);
      await make(world, backend);
      await faultOfCall(world.during(backend.delete(await list(world, backend), going())));
      for (const kind of faults) {
        world.fail?.(kind);
        const fault = await faultOfCall(world.during(backend.create(aLaunch(OURS, [lawName(kind)]), going())));
        demand(!`${fault?.message} ${String(fault?.cause)}`.includes(PLANTED_TOKEN), 'the token stands in a fault');
      }

      demand(!world.logged().includes(PLANTED_TOKEN), 'the token stands in the log');
    },
  },
];

function isSameMark(found: Mark | undefined, wanted: Mark): boolean {
  const keys = ['cluster', 'use', 'owner', 'shape'] as const;
  return keys.every((key) => found?.[key] === wanted[key]);
}

async function checkFault(world: BackendWorld, kind: FaultKind, name: string): Promise<void> {
  const backend = await world.open(OURS);
  world.fail?.(kind);
  const fault = await faultOfCall(world.during(backend.create(aLaunch(OURS, [name]), going())));
  demand(fault?.kind === kind, `a failure of the kind ${kind} was reported as ${fault?.kind ?? 'a success'}`);
  await world.settle();
}
