import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type EventRow, SELF } from '#core/journal.ts';
import type { SimAgent } from './agent.ts';
import type { SimCloud } from './backend.ts';
import type { Definition } from './definitions.ts';
import { NO_FAULTS } from './faults.ts';
import { openSeededWorld, type SeededWorld, type SeededWorldOptions } from './seeded-world.ts';
import { commandOf } from './work.ts';

const POOL: Definition = {
  name: 'gpu',
  regions: ['north'],
  size: 'small',
  slots: 1,
  minAgents: 4,
  maxAgents: 6,
  minIdle: 0,
  maxIdle: 4,
  idleDecayS: 600,
  bootTimeoutS: 180,
  drainTimeoutS: 300,
};

function submit(world: SeededWorld, count: number, options: { seconds: number; pieces?: number; pool?: string }): void {
  const { seconds, pieces = 0, pool = POOL.name } = options;
  const command = commandOf({ durationMs: seconds * SECOND_MS, exitCode: 3, pieces });
  const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 1 };
  world.load.submit(Array.from({ length: count }, () => ({ pool, spec })));
}

/** A world whose pools have booted. */
async function settled(options: Partial<SeededWorldOptions> = {}): Promise<SeededWorld> {
  const world = await openSeededWorld({ seed: 1, pools: [POOL], ...options });
  await world.advance(2 * MINUTE_MS);
  return world;
}

const eventsOf = ({ disk }: SeededWorld, kind: string): EventRow[] =>
  disk.histories.events.filter((event) => event.kind === kind);
const busyAgents = ({ agents }: SeededWorld): SimAgent[] =>
  [...agents.all.values()].filter((agent) => agent.running > 0);
const machinesOf = ({ regions }: SeededWorld): number =>
  [...(regions.get('north')?.machines() ?? [])].filter(({ launch }) => launch).length;

describe('an agent', () => {
  it('cut off for ten minutes while its session ends delivers exit code and whole output; no second copy ran', async () => {
    const world = await settled();
    submit(world, 1, { seconds: 120, pieces: 10 });
    await world.advance(10 * SECOND_MS);

    for (const agent of busyAgents(world)) world.network.cut(agent, 10 * MINUTE_MS);
    await world.advance(9 * MINUTE_MS);
    const during = world.disk.histories.ended.length;
    await world.advance(3 * MINUTE_MS);

    const [ended] = world.disk.histories.ended;
    expect(during).toBe(0);
    expect(ended).toMatchObject({ attempt: 1, end: { how: 'exited', exitCode: 3 } });
    expect(world.disk.histories.output.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(world.figures.starts).toBe(1);
    expect(world.invariants.firstBreak).toBeUndefined();
  });

  it('that dies with its machine is replaced, and its session starts again only when the cloud shows it no more', async () => {
    const world = await settled();
    submit(world, 1, { seconds: 300 });
    await world.advance(10 * SECOND_MS);
    const [{ name } = { name: '' }] = busyAgents(world);

    world.regions.get('north')?.kill(name);
    await world.advance(10 * MINUTE_MS);

    const [gone] = eventsOf(world, 'worker.gone');
    const [requeued] = eventsOf(world, 'session.requeued');
    expect(gone?.subject).toBe(`worker/${name}`);
    expect((gone?.id ?? '') < (requeued?.id ?? '')).toBe(true);
    expect(world.disk.histories.ended).toMatchObject([{ attempt: 2, end: { how: 'exited' } }]);
    expect(machinesOf(world)).toBe(4);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('a pool whose agents all vanish for 90 seconds', () => {
  it('deletes and requeues nothing, shows that it is frozen, and goes on when they are back', async () => {
    const world = await settled();
    submit(world, 4, { seconds: 600 });
    await world.advance(10 * SECOND_MS);
    const [pool] = [...(world.life?.store.view.pools.all() ?? [])];

    for (const agent of world.agents.all.values()) world.network.cut(agent, 90 * SECOND_MS);
    await world.advance(60 * SECOND_MS);
    const freeze = world.life?.store.view.freezes.get(pool?.id ?? '');
    await world.advance(2 * MINUTE_MS);

    expect(freeze).toMatchObject({
      automatic: true,
      why: expect.stringMatching(/^\d of 4 workers disconnected at once$/),
    });
    expect(world.life?.store.view.freezes.size).toBe(0);
    expect([eventsOf(world, 'worker.removing'), eventsOf(world, 'session.requeued')]).toEqual([[], []]);
    expect(world.figures.starts).toBe(4);
    expect(busyAgents(world)).toHaveLength(4);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('a disk that stands still', () => {
  it('lets nothing leave: no call to a cloud, no message to an agent, no answer to a caller', async () => {
    const held: (() => void)[] = [];
    let isStill = false;
    const world = await settled({
      sabotage: {
        wrapDriver: (driver) => ({
          ...driver,
          async write(changes) {
            if (isStill) await new Promise<void>((resolve) => held.push(resolve));
            await driver.write(changes);
          },
        }),
      },
    });
    isStill = true;
    const before = { ...world.points, creates: world.figures.calls.create, accepted: world.figures.accepted };
    submit(world, 6, { seconds: 60 });

    await world.advance(5 * MINUTE_MS);
    const during = { ...world.points, creates: world.figures.calls.create, accepted: world.figures.accepted };
    isStill = false;
    for (const write of held) write();
    await world.advance(5 * MINUTE_MS);

    const { message, creates, accepted } = before;
    expect(during).toMatchObject({ message, creates, accepted });
    expect(world.disk.histories.ended).toHaveLength(6);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('a call that hangs', () => {
  it('delays only its own pool', async () => {
    const pools = [POOL, { ...POOL, name: 'cpu', regions: ['south'] }];
    const world = await openSeededWorld({ seed: 1, pools });
    await world.advance(SECOND_MS);
    const north = world.regions.get('north');
    if (north) north.script = () => ({ is: 'hang', isDone: false });
    await world.advance(2 * MINUTE_MS);

    submit(world, 4, { seconds: 1, pool: 'cpu' });
    await world.advance(10 * SECOND_MS);

    expect(world.disk.histories.ended.map(({ poolName }) => poolName)).toEqual(['cpu', 'cpu', 'cpu', 'cpu']);
  });
});

describe('a server that takes over', () => {
  it('refuses and sweeps what a call of the former holder makes after it was given up', async () => {
    const pools = [{ ...POOL, minAgents: 0, maxAgents: 1 }];
    // With that the law of idle slots grants the pool half an hour.
    const world = await openSeededWorld({ seed: 1, pools, faults: { ...NO_FAULTS } });
    await world.advance(SECOND_MS);
    const north = world.regions.get('north') as SimCloud;
    let creates = 0;
    north.script = ({ name }) => {
      if (name !== 'create') return undefined;
      creates += 1;
      if (creates > 1 && world.clock.monotonic() > 20 * MINUTE_MS) return undefined;
      if (creates > 1) return { is: 'refused', fault: new Fault('exhausted', 'There is no room.') };
      world.takeOver(SECOND_MS);
      return { is: 'hang', isDone: true, afterMs: 10 * MINUTE_MS };
    };
    submit(world, 1, { seconds: 60 });
    await world.advance(9 * MINUTE_MS);
    const before = [...(world.life?.store.view.workers.all() ?? [])].map(({ id }) => id);
    await world.advance(2 * MINUTE_MS);
    const [late] = north.machines().filter(({ isLate }) => isLate);
    await world.advance(30 * MINUTE_MS);

    const joined = eventsOf(world, 'worker.joined').map(({ subject }) => subject);
    expect(world.figures.lateMachines).toBe(1);
    expect(before).not.toContain(late?.name);
    expect(eventsOf(world, 'machine.swept')).toMatchObject([{ subject: expect.stringContaining(late?.name ?? '?') }]);
    expect(joined).not.toContain(`worker/${late?.name}`);
    expect(north.find(late?.name ?? '')).toBeUndefined();
    expect(world.disk.histories.ended).toHaveLength(1);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('a pool whose machines once did not join', () => {
  it('is no break of the law of idle slots, hours later, while it launches one at a time', async () => {
    const pools = [{ ...POOL, minAgents: 0, maxIdle: 0 }];
    const world = await settled({ pools, faults: { ...NO_FAULTS, 'no-boot': 1 } });
    submit(world, 1, { seconds: 60 });
    await world.advance(30 * MINUTE_MS);
    const [session] = [...(world.life?.store.view.sessions.all() ?? [])];
    await world.life?.sessions.kill(session?.id ?? '', true, SELF);
    world.draws.calm();
    // The law looks at every full minute: half a minute after the sessions have come.
    await world.advance(60 * MINUTE_MS + 30 * SECOND_MS);

    const north = world.regions.get('north') as SimCloud;
    north.script = ({ name }) => (name === 'create' ? { is: 'slow', ms: 20_000 } : undefined);
    const before = world.invariants.looks['idle-kept'];
    submit(world, 3, { seconds: 600 });
    await world.advance(35 * SECOND_MS);
    const during = machinesOf(world);
    await world.advance(10 * MINUTE_MS);

    expect(during).toBe(1);
    expect(machinesOf(world)).toBe(3);
    expect(world.invariants.looks['idle-kept']).toBeGreaterThan(before);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('a pool that parks', () => {
  it('keeps every machine that it stopped, and wakes it for the next session', async () => {
    const pools = [{ ...POOL, minAgents: 0, maxIdle: 0, idleDecayS: 30, parks: 4 }];
    const world = await settled({ pools });
    submit(world, 4, { seconds: 60 });
    await world.advance(10 * MINUTE_MS);
    const parked = [...(world.regions.get('north')?.machines() ?? [])].filter(({ launch }) => launch);
    submit(world, 4, { seconds: 60 });
    await world.advance(10 * MINUTE_MS);

    expect(parked.map(({ machine }) => machine.state)).toEqual(Array(4).fill('suspended'));
    expect(world.figures.requiredEvents).toMatchObject({ parking: 8, waking: 4 });
    expect(world.figures.calls.create).toBe(1);
    expect(world.disk.histories.ended).toHaveLength(8);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});

describe('an agent whose machine the cloud takes back', () => {
  it('finishes what ends in time, and what does not starts again elsewhere once the machine is gone', async () => {
    const world = await settled();
    submit(world, 1, { seconds: 60 });
    submit(world, 1, { seconds: 600 });
    await world.advance(10 * SECOND_MS);
    const taken = busyAgents(world);

    world.machineFaults.takeBack(taken);
    await world.advance(22 * MINUTE_MS);

    expect(taken).toHaveLength(2);
    expect(world.figures.requiredEvents.notice).toBe(2);
    expect(world.disk.histories.ended.map(({ attempt, end }) => [attempt, end?.how])).toEqual([
      [1, 'exited'],
      [2, 'exited'],
    ]);
    expect(eventsOf(world, 'pool.frozen')).toEqual([]);
    expect(world.invariants.firstBreak).toBeUndefined();
  });
});
