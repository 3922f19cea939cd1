import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { aPool } from '#core/testing/pool.ts';
import { type SimCloud, simKind } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const creates = (world: PoolWorld) => world.cloud.calls.filter((call) => call.name === 'create').length;
const kinds = (world: PoolWorld) => world.disk.histories.events.map((event) => event.kind);

/** Two workers, one of them with a session that runs for that long. */
async function withBusy(sessionMs: number, scaling = {}) {
  const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 5, ...scaling })] });
  await world.advance(MINUTE_MS);
  await world.life.submit('gpu', 1, sessionMs);
  await world.advance(MINUTE_MS);
  const busy = [...world.agents.all.values()].find((agent) => agent.running > 0)?.name ?? '';
  const idle = [...world.agents.all.values()].find((agent) => agent.running === 0)?.name ?? '';
  return { world, busy, idle };
}

/** As instance groups are: what is lost comes back under its name. */
function reusingNames(cloud: SimCloud, isAlive: () => boolean): Kinds<Backend> {
  const kind = simKind(cloud, isAlive);
  return { sim: { ...kind, open: async (...given) => ({ ...(await kind.open(...given)), reusesNames: true }) } };
}

describe('a worker whose machine died', () => {
  it('is gone after two listings; then its session starts anew, and it is replaced', async () => {
    const { world, busy } = await withBusy(HOUR_MS);

    world.cloud.kill(busy);
    await world.advance(SECOND_MS);
    const atOnce = [world.life.store.view.workers.get(busy) !== undefined, [...world.agents.runs.values()]];
    await world.advance(10 * SECOND_MS);

    expect(atOnce).toEqual([true, [1]]);
    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
    expect(kinds(world)).toContain('worker.gone');
    await world.advance(MINUTE_MS);
    expect([...world.agents.runs.values()]).toEqual([2]);
    expect(world.phases()).toBe('1 idle, 1 busy');
  });

  it('is not gone by one listing that does not show it', async () => {
    const { world, busy } = await withBusy(HOUR_MS);
    let isFirst = true;
    world.cloud.script = ({ name }) => {
      if (name !== 'list' || !isFirst) return undefined;
      isFirst = false;
      return { is: 'answer', of: (machines) => machines.filter((machine) => machine.name !== busy) };
    };

    world.agents.cutOff([busy], true);
    await world.advance(10 * MINUTE_MS);

    expect(world.life.store.view.workers.get(busy)).toBeDefined();
    expect([...world.agents.runs.values()]).toEqual([1]);
  });

  it('is not gone by listings that failed', async () => {
    const { world, busy } = await withBusy(HOUR_MS);
    world.cloud.kill(busy);
    world.cloud.script = ({ name }) =>
      name === 'list' ? { is: 'refused', fault: new Fault('unavailable', 'away') } : undefined;

    await world.advance(30 * MINUTE_MS);
    const during = world.life.store.view.workers.get(busy);
    world.cloud.script = () => undefined;
    await world.advance(5 * MINUTE_MS);

    expect(during).toBeDefined();
    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
  });

  it('is not gone by listings that had begun while it was here', async () => {
    const { world, busy } = await withBusy(HOUR_MS, { syncEveryMs: 10_000 });
    // Listings miss it while its agent is connected: it is left alone.
    world.cloud.script = ({ name }) =>
      name === 'list' ? { is: 'answer', of: (all) => all.filter((machine) => machine.name !== busy) } : undefined;
    await world.advance(MINUTE_MS);
    const unlisted = world.phases();
    world.cloud.script = () => undefined;

    world.agents.cutOff([busy], true);
    await world.advance(10 * MINUTE_MS);

    expect(unlisted).toBe('1 idle, 1 busy');
    expect(world.life.store.view.workers.get(busy)).toBeDefined();
  });

  it('is gone also where its pool has left that cloud', async () => {
    const pool = aPool({ minAgents: 1, maxAgents: 2, maxIdleSlots: 5 });
    const world = await openPoolWorld({ pools: [pool] });
    await world.advance(MINUTE_MS);
    await world.life.submit('gpu', 1, 600 * MINUTE_MS);
    await world.advance(SECOND_MS);
    const [name = ''] = world.agents.all.keys();
    await world.set({ ...pool, revision: 2, spec: { ...pool.spec, offers: [] } });
    await world.advance(5 * MINUTE_MS);

    world.cloud.kill(name);
    await world.advance(60 * MINUTE_MS);

    expect(world.life.store.view.workers.get(name)).toBeUndefined();
  });

  it('and whose cloud has put another under its name is gone by that, also for a server that has just started', async () => {
    for (const isRestarted of [false, true]) {
      const replaced = new Set<string>();
      const pools = [aPool({ minAgents: 1, maxIdleSlots: 5, syncEveryMs: 10_000 })];
      const world = await openPoolWorld({ pools, kinds: reusingNames });
      const idOf = (name: string): string => (replaced.has(name) ? 'second' : 'first');
      world.cloud.script = ({ name }) =>
        name === 'list' ? { is: 'answer', of: (all) => all.map((one) => ({ ...one, id: idOf(one.name) })) } : undefined;
      await world.advance(MINUTE_MS);
      await world.life.submit('gpu', 1, HOUR_MS);
      await world.advance(MINUTE_MS);
      const [busy = ''] = world.agents.all.keys();

      replaced.add(busy);
      world.agents.cutOff([busy], true);
      if (isRestarted) {
        world.crash();
        await world.start();
      }
      await world.advance(10 * MINUTE_MS);

      expect(world.life.store.view.workers.get(busy)).toBeUndefined();
      expect([...world.agents.runs.values()]).toEqual([2]);
      expect(world.cloud.machines().map(({ name }) => name)).not.toContain(busy);
    }
  });

  it('and is listed as failed is deleted before its sessions start anew', async () => {
    const { world, busy } = await withBusy(HOUR_MS, { syncEveryMs: 10_000 });
    world.agents.cutOff([busy], true);

    world.cloud.trouble(busy, { kind: 'unavailable', message: 'host error', final: true }, 'failed');
    await world.advance(30 * SECOND_MS);

    expect(world.cloud.machines().map((made) => made.name)).not.toContain(busy);
    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
  });
});

describe('a worker that is away', () => {
  it('for a moment is not replaced', async () => {
    const { world, idle } = await withBusy(HOUR_MS);
    const before = creates(world);

    world.agents.cutOff([idle], true);
    await world.advance(20 * SECOND_MS);
    const away = world.phases();
    world.agents.cutOff([idle], false);
    await world.advance(10 * MINUTE_MS);

    expect(away).toBe('1 busy, 1 returning');
    expect(creates(world)).toBe(before);
  });

  it('for ten minutes while its session ends delivers on return, and no second copy was started', async () => {
    const { world, busy } = await withBusy(5 * MINUTE_MS);

    world.agents.cutOff([busy], true);
    await world.advance(12 * MINUTE_MS);
    const waiting = world.life.store.view.sessions.count('worker', busy);
    world.agents.cutOff([busy], false);
    await world.advance(SECOND_MS);

    expect(waiting).toBe(1);
    expect(world.life.store.view.sessions.size).toBe(0);
    expect([...world.agents.runs.values()]).toEqual([1]);
    expect(kinds(world)).toEqual(expect.arrayContaining(['worker.lost', 'worker.returned']));
  });

  it('with sessions is kept for as long as its machine is there', async () => {
    const { world, busy } = await withBusy(100 * HOUR_MS, { killUnknownAfterMs: MINUTE_MS });

    world.agents.cutOff([busy], true);
    await world.advance(48 * HOUR_MS);

    expect(world.cloud.machines().map((made) => made.name)).toContain(busy);
    expect([...world.agents.runs.values()]).toEqual([1]);
  });

  it('without sessions is given up after ten minutes: the machine first, then the row', async () => {
    const { world, idle } = await withBusy(HOUR_MS);
    const order: string[] = [];
    world.cloud.onGone((made) => {
      if (made.name === idle) order.push('machine');
    });
    world.life.store.onChange('workers', (after, _before, id) => {
      if (!after && id === idle) order.push('row');
    });

    world.agents.cutOff([idle], true);
    await world.advance(9 * MINUTE_MS);
    const early = [...order];
    await world.advance(3 * MINUTE_MS);

    expect(early).toEqual([]);
    expect(order).toEqual(['machine', 'row']);
  });

  it('after a restart counts as present until its grace is over', async () => {
    const { world, busy, idle } = await withBusy(HOUR_MS);
    const before = creates(world);
    world.crash();
    world.agents.cutOff([busy, idle], true);
    await world.advance(HOUR_MS);

    await world.start();
    await world.advance(110 * SECOND_MS);
    const inGrace = world.phases();
    const launched = creates(world) - before;
    await world.advance(MINUTE_MS);

    expect([inGrace, launched]).toEqual(['2 returning', 0]);
    expect(world.phases()).toMatch(/2 lost/);
    expect([...world.agents.runs.values()]).toEqual([1]);
  });

  it('after a restart whose machine died meanwhile is given up only when the grace is over', async () => {
    const { world, busy, idle } = await withBusy(HOUR_MS);
    world.crash();
    world.cloud.kill(busy);
    world.agents.cutOff([idle], true);
    await world.advance(HOUR_MS);

    await world.start();
    await world.advance(110 * SECOND_MS);
    const inGrace = world.life.store.view.workers.get(busy);
    await world.advance(30 * SECOND_MS);

    expect(inGrace).toBeDefined();
    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
  });
});

describe('a worker whose agent is connected and whose machine is not listed', () => {
  it('is left alone, logged once, and counted', async () => {
    const lines: string[] = [];
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, syncEveryMs: 10_000 })],
      log: (_level, message) => void lines.push(message),
    });
    await world.advance(MINUTE_MS);
    world.cloud.script = ({ name }) => (name === 'list' ? { is: 'answer', of: () => [] } : undefined);

    await world.advance(10 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(world.cloud.machines()).toHaveLength(1);
    expect(lines.filter((line) => line === 'agent is connected, but its machine is not listed')).toHaveLength(1);
  });
});

describe('a worker with sessions whose machine was stopped outside Muster', () => {
  const FIFTEEN_MIN_MS = 15 * MINUTE_MS;

  it('waits for its return, then is deleted, and only then does its session start anew', async () => {
    const { world, busy } = await withBusy(HOUR_MS);

    world.cloud.stop(busy);
    await world.advance(9 * MINUTE_MS);
    const waiting = [world.life.store.view.workers.get(busy)?.removal, [...world.agents.runs.values()]];
    const before = world.cloud.calls.filter(({ name }) => name === 'delete').length;
    await world.advance(FIFTEEN_MIN_MS);

    const deletes = world.cloud.calls.filter(({ name }) => name === 'delete').slice(before);
    expect(waiting).toEqual([undefined, [1]]);
    expect(deletes.map(({ names }) => names)).toEqual([[busy]]);
    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
    expect(world.cloud.find(busy)).toBeUndefined();
    expect([...world.agents.runs.values()]).toEqual([2]);
    expect(world.phases()).toBe('1 idle, 1 busy');
    const why = world.disk.histories.events.find(({ kind }) => kind === 'worker.removing')?.message;
    expect(why).toBe('Removing the machine: unavailable, its machine was stopped outside Muster.');
  });

  it('keeps it where the machine is started again in time', async () => {
    const { world, busy } = await withBusy(HOUR_MS);

    world.cloud.stop(busy);
    await world.advance(8 * MINUTE_MS);
    world.cloud.start(busy);
    await world.advance(FIFTEEN_MIN_MS);

    expect(world.life.store.view.workers.get(busy)?.removal).toBeUndefined();
    expect(world.phases()).toBe('1 idle, 1 busy');
  });

  it('is not deleted by an old listing while its cloud cannot be listed', async () => {
    const { world, busy } = await withBusy(HOUR_MS);

    world.cloud.stop(busy);
    await world.advance(2 * MINUTE_MS);
    world.cloud.script = ({ name }) =>
      name === 'list' ? { is: 'refused', fault: new Fault('unavailable', 'away') } : undefined;
    await world.advance(30 * MINUTE_MS);
    world.life.workers.poke('id-gpu');
    await world.advance(SECOND_MS);

    expect(world.life.store.view.workers.get(busy)?.removal).toBeUndefined();
    expect([...world.agents.runs.values()]).toEqual([1]);
  });

  it('waits anew after a restart, and is resolved all the same', async () => {
    const { world, busy } = await withBusy(HOUR_MS);

    world.cloud.stop(busy);
    await world.advance(5 * MINUTE_MS);
    world.crash();
    await world.start();
    await world.advance(20 * MINUTE_MS);

    expect(world.life.store.view.workers.get(busy)).toBeUndefined();
    expect([...world.agents.runs.values()]).toEqual([2]);
  });
});
