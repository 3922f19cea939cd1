// What must hold whatever happens, and in whatever order it happens.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Session } from '#core/session.ts';
import type { Change } from '#core/store.ts';
import { type Disk, emptyDisk } from '#store/memory.ts';
import { isSooner } from './queue.ts';
import {
  type Copy,
  cutOff,
  endOn,
  type Machine,
  makeMachine,
  obey,
  printOn,
  reconnect,
  runningOn,
} from './testing/machine.ts';
import { CALLER, openScene, type Scene, specOf } from './testing/scene.ts';

const LABELS = [{}, {}, { zone: 'x' }] as const;

interface World {
  readonly disk: Disk;
  scene: Scene;
  readonly machines: Machine[];
  readonly accepted: Set<string>;
  readonly started: Map<string, string>;
  readonly copies: Map<string, Copy>;
  readonly wrongs: string[];
  /** What was written into a history that must stand there once. */
  readonly written: Set<string>;
  isPaused: boolean;
  made: number;
}

async function openWorld(): Promise<World> {
  const world: World = {
    disk: emptyDisk(),
    scene: undefined as unknown as Scene,
    machines: [],
    accepted: new Set(),
    started: new Map(),
    copies: new Map(),
    wrongs: [],
    written: new Set(),
    isPaused: false,
    made: 0,
  };
  await openNext(world);
  await world.scene.pool('gpu');
  return world;
}

/** The server starts from what the disk holds. */
async function openNext(world: World): Promise<void> {
  const scene = await openScene({
    disk: world.disk,
    seed: ++world.made,
    ...(world.scene && { clock: world.scene.clock }),
    send(agent, command) {
      const machine = world.machines.find(({ name }) => name === agent);
      if (!machine?.isConnected) return false;
      machine.inbox.push(command);
      return true;
    },
  });
  world.scene = scene;
  scene.store.onChange('sessions', (after, before) => {
    if (after?.worker !== undefined && before?.worker === undefined) checkPlacement(world, after);
  });
  scene.store.onDurable((changes) => {
    for (const change of changes) checkWritten(world, change);
  });
}

function checkWritten({ written, wrongs }: World, change: Change): void {
  if (!('append' in change) || (change.append !== 'ended' && change.append !== 'output')) return;
  const { row } = change;
  const key = 'seq' in row ? `${row.session}/${row.attempt}/${row.seq}` : row.id;
  if (written.has(key)) wrongs.push(`${change.append} ${key} was written twice`);
  written.add(key);
}

function checkPlacement(world: World, placed: Session): void {
  const { view } = world.scene.store;
  const lane = JSON.stringify(placed.spec.labels);
  for (const other of view.sessions.by('queue', placed.pool)) {
    if (JSON.stringify(other.spec.labels) === lane && isSooner(other, placed))
      world.wrongs.push(`${placed.id} went before ${other.id}`);
  }
  const worker = view.workers.get(placed.worker ?? '');
  if (!worker || worker.drain || worker.removal)
    world.wrongs.push(`${placed.id} went to ${placed.worker}, which drains`);
  const slots = view.agents.get(placed.worker ?? '')?.slots ?? 0;
  if (view.sessions.count('worker', placed.worker ?? '') > slots) world.wrongs.push(`${placed.worker} is overfull`);
}

function checkCopies(world: World): void {
  const running = new Set<string>();
  for (const machine of world.machines) {
    if (!machine.isAlive) continue;
    for (const copy of machine.copies.values()) {
      checkCopy(world, machine, copy);
      if (!copy.isRunning) continue;
      if (running.has(copy.session)) world.wrongs.push(`${copy.session} runs twice`);
      running.add(copy.session);
    }
  }
}

function checkCopy({ started, copies, wrongs }: World, machine: Machine, copy: Copy): void {
  const key = `${copy.session}/${copy.attempt}`;
  if ((started.get(key) ?? machine.name) !== machine.name) wrongs.push(`${key} started on two machines`);
  started.set(key, machine.name);
  copies.set(key, copy);
}

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)];

async function connect(world: World, machine: Machine): Promise<void> {
  const executions = reconnect(machine);
  await world.scene.join(machine.name, { slots: machine.slots, labels: machine.labels, executions });
}

function submit(world: World, a: number, b: number): void {
  const spec = specOf({ priority: a % 3, retries: b % 3, labels: LABELS[b % 3] ?? {} });
  const requests = Array.from({ length: 1 + (a % 4) }, () => ({ pool: 'gpu', spec }));
  const key = a % 5 === 0 ? [`key-${b % 4}`] : [];
  world.scene.sessions.submit(requests, CALLER, ...key).then(
    (sessions) => {
      for (const { id } of sessions) world.accepted.add(id);
    },
    () => {},
  );
}

/** The machine is gone for good, and the workers have found out. */
async function destroy(world: World, machine: Machine): Promise<void> {
  cutOff(machine);
  machine.isAlive = false;
  await world.scene.gone(machine.name);
}

async function crash(world: World): Promise<void> {
  const { scene, machines } = world;
  scene.gate.crash();
  await scene.clock.settle();
  await scene.sessions.stop();
  for (const machine of machines) cutOff(machine);
  world.isPaused = false;
  await openNext(world);
  for (const machine of machines) if (!machine.isAlive) await world.scene.gone(machine.name);
}

const ACTIONS: Readonly<Record<string, (world: World, a: number, b: number) => Promise<void> | void>> = {
  submit,
  async launch(world, a, b) {
    if (world.isPaused || world.machines.length > 8) return;
    const machine = makeMachine(`m-${world.machines.length + 1}`, 1 + (a % 3), LABELS[b % 3] ?? {});
    world.machines.push(machine);
    await connect(world, machine);
  },
  async reconnect(world, a) {
    const machine = pick(world.machines, a);
    if (machine?.isAlive) await connect(world, machine);
  },
  async cutOff(world, a) {
    const machine = pick(world.machines, a);
    if (!machine?.isConnected) return;
    cutOff(machine);
    await world.scene.leave(machine.name);
  },
  async destroy(world, a) {
    const machine = pick(world.machines, a);
    if (machine?.isAlive) await destroy(world, machine);
  },
  async drain(world, a) {
    const machine = pick(world.machines, a);
    const row = machine && world.scene.store.view.workers.get(machine.name);
    if (row && a % 4 === 0) await world.scene.change('workers', { ...row, drain: { at: 1, why: 'test' } });
  },
  obey(world, a, b) {
    const machine = pick(world.machines, a);
    const complain = (wrong: string): void => void world.wrongs.push(wrong);
    for (let n = 0; machine?.isConnected && n <= b % 4; n++) obey(machine, (b + n) % 9 === 0, complain);
  },
  report(world, a, b) {
    const machine = pick(world.machines, a);
    for (let n = 0; machine?.isConnected && n <= b % 5; n++) {
      const report = machine.outbox.shift();
      if (report) world.scene.sessions.report(machine.name, report);
    }
  },
  print(world, a, b) {
    const machine = pick(world.machines, a);
    const copy = machine?.isAlive ? pick(runningOn(machine), b) : undefined;
    for (let n = 0; machine && copy && n <= b % 3; n++) printOn(machine, copy);
  },
  end(world, a, b) {
    const machine = pick(world.machines, a);
    const copy = machine?.isAlive ? pick(runningOn(machine), b) : undefined;
    if (machine && copy) endOn(machine, copy, 'exited');
  },
  kill(world, a, b) {
    const session = pick([...world.scene.store.view.sessions.all()], a);
    if (session) world.scene.sessions.kill(session.id, b % 2 === 0, CALLER).catch(() => {});
  },
  pause(world) {
    world.scene.gate.pause();
    world.isPaused = true;
  },
  resume(world) {
    world.scene.gate.resume();
    world.isPaused = false;
  },
  freeze: (world) => world.scene.change('freezes', { id: 'fleet', at: 1, why: 'test', by: 'me', automatic: true }),
  thaw: (world) => world.scene.remove('freezes', 'fleet'),
  crash,
  wait: (world, a) => world.scene.clock.advance(a % 1_500),
};

const WEIGHTS: Readonly<Record<string, number>> = {
  submit: 4,
  launch: 3,
  obey: 10,
  report: 10,
  print: 4,
  end: 5,
  reconnect: 3,
};

const script = fc.array(
  fc.record({
    do: fc.oneof(...Object.keys(ACTIONS).map((name) => ({ weight: WEIGHTS[name] ?? 1, arbitrary: fc.constant(name) }))),
    a: fc.nat(60),
    b: fc.nat(60),
  }),
  { maxLength: 120, size: 'max' },
);

/** All faults end, and every agent reconnects and finishes what it has. */
async function heal(world: World): Promise<void> {
  await ACTIONS.resume?.(world, 0, 0);
  await world.scene.clock.settle();
  await world.scene.remove('freezes', 'fleet');
  for (const machine of world.machines) if (machine.isAlive) await connect(world, machine);
  const last = makeMachine('m-last', 2, { zone: 'x' });
  world.machines.push(last);
  await connect(world, last);
  for (let round = 0; round < 300 && world.scene.store.view.sessions.size > 0; round++) {
    for (const machine of world.machines) await finishAll(world, machine);
    await world.scene.clock.advance(1_000);
    checkCopies(world);
  }
}

async function finishAll(world: World, machine: Machine): Promise<void> {
  while (machine.inbox.length > 0) obey(machine, false, (wrong) => world.wrongs.push(wrong));
  checkCopies(world);
  for (const copy of runningOn(machine)) endOn(machine, copy, 'exited');
  for (let report = machine.outbox.shift(); report; report = machine.outbox.shift()) {
    if (machine.isConnected) world.scene.sessions.report(machine.name, report);
  }
}

function checkEnds({ disk, accepted, copies, scene }: World): void {
  const ended = new Map(disk.histories.ended.map((session) => [session.id, session]));
  expect(disk.histories.ended).toHaveLength(ended.size);
  expect(scene.store.view.sessions.size).toBe(0);
  for (const id of accepted) expect(ended.has(id), `${id} has an end`).toBe(true);
  for (const { id, attempt, end } of ended.values()) {
    if (end?.how !== 'exited') continue;
    const kept = disk.histories.output.filter((chunk) => chunk.session === id && chunk.attempt === attempt);
    expect(kept.map(({ data }) => String(Buffer.from(data)))).toEqual(copies.get(`${id}/${attempt}`)?.printed);
  }
}

test('whatever happens: no slot is shared, no copy runs twice, the line is kept, every session ends once with all its output', async () => {
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const world = await openWorld();
      for (const { do: name, a, b } of steps) {
        await ACTIONS[name]?.(world, a, b);
        await world.scene.clock.settle();
        checkCopies(world);
        expect(world.wrongs).toEqual([]);
      }

      await heal(world);

      expect(world.wrongs).toEqual([]);
      checkEnds(world);
      await world.scene.sessions.stop();
    }),
    {
      numRuns: Number(process.env.LAWS_RUNS ?? 150),
      ...(process.env.LAWS_SEED && { seed: Number(process.env.LAWS_SEED) }),
    },
  );
});
