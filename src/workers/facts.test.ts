import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { openAccess } from '#access/access.ts';
import { openClouds } from '#clouds/clouds.ts';
import { openGate } from '#clouds/gate.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Offer, Pool } from '#core/pool.ts';
import { aPool } from '#core/testing/pool.ts';
import { startJournal } from '#journal/journal.ts';
import { startMachines } from '#machines/machines.ts';
import type { Plane, PlaneParts } from '#program/plane.ts';
import { startSessions } from '#sessions/sessions.ts';
import { noFiles } from '#sessions/testing/scene.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemories, PoolMemory } from './pool-memory.ts';
import { openWorkers } from './workers.ts';

const NEW: Offer = { id: 'shape2', kind: 'sim', config: { size: 2 } };
const limits = { minIdleSlots: 2, maxIdleSlots: 2, maxAgents: 10 };

const foreseen = (world: PoolWorld, pool: Pool): string[] =>
  world.life.workers.foresee(pool).actions.map((action) => `${action.do} ${action.do === 'launch' ? action.count : 1}`);

async function settled() {
  const world = await openPoolWorld({ pools: [aPool(limits)] });
  await world.advance(MINUTE_MS);
  return world;
}

/** All that a world has done, in memory, on disk and towards its cloud. */
const doneBy = (world: PoolWorld): string =>
  JSON.stringify([[...world.disk.rows].map(([name, rows]) => [name, [...rows]]), world.cloud.calls]);

it('tells what a pool would launch, and the world goes on as one that was never asked', async () => {
  const [owned, twin] = [await settled(), await settled()];
  const wanted = { ...limits, minAgents: 3 };
  const unknown = { ...aPool(wanted, { offers: [NEW] }), id: 'unknown' };

  for (const world of [owned, twin]) {
    if (world === owned) {
      expect(foreseen(world, unknown)).toEqual(['launch 3']);
      expect(foreseen(world, aPool(wanted))).toEqual(['launch 1']);
    }
    await world.life.submit('gpu', 3, 5 * MINUTE_MS);
    await world.advance(MINUTE_MS);
    if (world === owned) foreseen(world, unknown);
    await world.advance(30 * MINUTE_MS);
  }

  expect(doneBy(owned)).toBe(doneBy(twin));
});

it('tells what a change would replace, and does none of it', async () => {
  const world = await settled();
  const after = aPool(limits, { offers: [NEW] }, { revision: 2 });

  const actions = foreseen(world, after);
  await world.advance(10 * MINUTE_MS);

  expect(actions).not.toEqual([]);
  expect(world.cloud.machines().map(({ launch }) => launch?.mark.shape)).toEqual(['shape1', 'shape1']);
  expect(foreseen(world, aPool(limits))).toEqual([]);
});

it('counts all that are of an older definition then, though the next pass takes only the first of them', async () => {
  const world = await settled();
  const spec = { offers: [NEW] };

  const { replaced } = world.life.workers.foresee(
    aPool(limits, { ...spec, updatePolicy: 'replace_idle' }, { revision: 2 }),
  );
  const kept = world.life.workers.foresee(aPool(limits, { ...spec, updatePolicy: 'keep' }, { revision: 2 }));
  const same = world.life.workers.foresee(aPool(limits, { updatePolicy: 'replace_idle' }, { revision: 2 }));

  expect([replaced, kept.replaced, same.replaced]).toEqual([2, 0, 0]);
});

it('tells of a removal who goes at once and who may finish', async () => {
  const world = await settled();
  await world.life.submit('gpu', 1, 30 * MINUTE_MS);
  await world.advance(2 * MINUTE_MS);
  const removal = { at: 0, deadlineAt: 60 * MINUTE_MS, why: 'test' };

  const actions = foreseen(world, aPool(limits, {}, { removal, revision: 2 }));

  expect(actions).toEqual(['remove 1', 'remove 1', 'drain 1']);
});

it('counts on a change to end the cool-down of a failed launch, as it does', async () => {
  const world = await openPoolWorld({
    pools: [aPool({ ...limits, retryDelayMs: 60 * MINUTE_MS, errorResetAfterMs: 60 * MINUTE_MS })],
  });
  world.cloud.script = ({ name }) =>
    name === 'create' ? { is: 'refused', fault: new Fault('exhausted', 'none left') } : undefined;
  await world.advance(MINUTE_MS);
  const [now] = world.life.store.view.pools.all();

  expect(foreseen(world, now as Pool)).toEqual([]);
  expect(foreseen(world, { ...(now as Pool), revision: 2 })).toEqual(['launch 2']);
});

/** What is kept of a pool; where nothing is, reading makes another each time. */
function memoryIn({ read }: PoolMemories, id: string): Readonly<PoolMemory> | undefined {
  const [kept, again] = [read(id), read(id)];
  return kept === again ? kept : undefined;
}

/** As much of the server as workers need, with what they remember. */
async function startWithMemory(parts: PlaneParts, memory: (context: WorkersContext) => void): Promise<Plane> {
  const { store, clock, random, log, link, context, kinds } = parts;
  const base = { store, clock, random, log };
  const journal = startJournal(base);
  const access = await openAccess({ ...base, event: journal.event });
  const gate = openGate(base);
  const clouds = openClouds({ ...base, gate, kinds: kinds.backends, context });
  const { launchToken, verifyLaunchToken, admit } = access;
  const machines = startMachines({ ...base, journal, clouds, launchToken, verifyLaunchToken });
  const boot = { agentConfig: ({ name }: { name: string }) => name, install: () => undefined };
  const opened = openWorkers({ ...base, machines, journal, clouds, link, admit, boot });
  const sessions = startSessions({ ...base, journal, link, files: noFiles, noteUnknown: machines.noteUnknown });
  memory(opened.context);
  return { access, journal, gate, clouds, machines, workers: opened.workers, sessions } as unknown as Plane;
}

/** All that workers remember, and all rows: values of observations are never changed in place, so their identity counts. */
function remembered({ life: { store }, disk }: PoolWorld, { owned, pools }: WorkersContext) {
  const rows = [...store.view.workers.all()];
  const ids = [...[...store.view.pools.all()].map(({ id }) => id), 'fleet', 'nobody'];
  return {
    observations: rows.map((row) => owned.observations.kept(row.id)),
    text: inspect(
      {
        rows: [...disk.rows],
        workers: rows,
        sessions: [...store.view.sessions.all()],
        memories: ids.map((id) => memoryIn(pools, id)),
        lost: pools.lost,
        calls: owned.calls,
        waiting: [...owned.waiting.all()],
        unknown: ids.map((id) => owned.unknown.of(id)),
      },
      { depth: null, maxArrayLength: null },
    ),
  };
}

it('changes nothing, neither in the store nor in memory, whatever the pool is going through', async () => {
  let memory: WorkersContext | undefined;
  const world = await openPoolWorld({
    pools: [aPool({ ...limits, maxAgents: 6 })],
    cloud: { listLagMs: 3_000 },
    startPlane: (parts) => startWithMemory(parts, (context) => (memory = context)),
  });
  const changed = aPool(limits, { offers: [NEW] }, { revision: 2 });
  let looks = 0;
  const look = (): void => {
    looks += 1;
    const before = remembered(world, memory as WorkersContext);
    world.life.workers.plan('id-gpu');
    foreseen(world, changed);
    foreseen(world, { ...changed, id: 'nobody' });
    foreseen(world, { ...changed, removal: { at: 0, deadlineAt: 0, why: 'test' } });
    const after = remembered(world, memory as WorkersContext);
    expect(after.text).toBe(before.text);
    expect(after.observations.every((seen, at) => seen === before.observations[at])).toBe(true);
  };
  look();
  world.cloud.script = ({ name, nth }) => {
    // In the middle of passes too: right when a cloud is called.
    look();
    return name === 'create' && nth % 3 === 1 ? { is: 'lost reply' } : undefined;
  };
  for (let minute = 0; minute < 40; minute += 1) {
    await world.life.submit('gpu', 2, MINUTE_MS);
    const names = [...world.agents.all.keys()];
    if (minute % 5 === 2) world.cloud.kill(names[0] ?? '');
    if (minute % 7 === 3) world.cloud.stop(names[1] ?? '');
    if (minute % 7 === 5) world.agents.cutOff(names, minute % 2 === 0);
    if (minute === 20) {
      world.crash();
      await world.start();
      look();
    }
    for (let second = 0; second < 60; second += 7) {
      look();
      await world.advance(7_000);
    }
  }

  expect(looks).toBeGreaterThan(300);
});
