// The composition with a second feature that owns machines: agents of the use `computer` join it, not the pools.
import { describe, expect, it } from 'vitest';
import type { Hello, JoinProof } from '#core/agent-link.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { DESK, type Desk, type DeskMachine, startDesk } from '#machines/testing/desk.ts';
import type { SimMachine } from '#sim/backend.ts';
import { openPoolWorld } from '#sim/pool-world.ts';
import type { AnyFeature } from './features.ts';

const INSTALL = { archives: [{ machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }] };

/** A server with a pool that keeps one worker idle, and with the feature of the computer `desk`. */
async function open(doesBoot = (_made: SimMachine): boolean => true, nameOf = (name: string): string => name) {
  const rows = new Map<string, DeskMachine>();
  let computers: Desk | undefined;
  const feature: AnyFeature = {
    id: 'computers',
    start(parts) {
      computers = startDesk(parts, rows);
      return { configure: () => {}, stop: async () => {} };
    },
  };
  const world = await openPoolWorld({
    pools: [aPool({ minIdleSlots: 1 })],
    cloud: { nameOf },
    doesBoot,
    ownerName: () => DESK.name,
    parts: {
      agentConfig: ({ name, slots }) => `${name} with ${slots}`,
      install: () => INSTALL,
      features: [feature],
    },
  });
  computers?.create();
  await world.advance(2 * MINUTE_MS);
  const { clock, cloud, disk, agents, life } = world;
  const [computer] = rows.keys();
  const [worker] = life.store.view.workers.all();
  return {
    ...{ clock, cloud, disk, agents, rows, plane: life, store: life.store, machines: life.machines },
    computers: computers as unknown as Desk,
    computer: computer ?? '',
    worker: worker?.id ?? '',
  };
}

type World = Awaited<ReturnType<typeof open>>;

const hello = (name: string, pool: string): Hello => ({
  ...{ name, pool, slots: 1, labels: {}, wire: 'muster', version: '1', hostname: name, address: '10.0.0.9' },
  executions: [],
});
const proofOf = ({ cloud, plane }: World, machine: string): JoinProof => {
  const launch = cloud.machines().find(({ name }) => name === machine)?.launch?.id ?? '';
  return { peerAddress: '10.0.0.9', token: plane.access.launchToken(launch), key: `key of ${machine}` };
};
const kinds = ({ disk }: World) => disk.histories.events.map(({ kind }) => kind);
const idleWorkers = ({ plane }: World) => plane.workers.plan('id-gpu').figures.idle;

describe('the agent of a computer', () => {
  it('gets the boot settings of the server, joins the feature of its use and is no worker', async () => {
    const world = await open();

    const { agents, workers } = world.store.view;
    const { launch } = world.cloud.machines().find(({ name }) => name === world.computer) ?? {};
    expect(launch?.boot).toMatchObject({ agentConfig: 'desk with 1', install: INSTALL });
    expect(agents.get(world.computer)).toMatchObject({ use: 'computer', owner: DESK.id, labels: { room: '7' } });
    expect(world.rows.get(world.computer)).toMatchObject({
      joinedAt: expect.any(Number),
      credential: /^[0-9a-f]{64}$/,
    });
    expect(kinds(world)).toContain('computer.connected');
    expect([...workers.all()].map(({ id }) => id)).toEqual([world.worker]);
    expect([...agents.by('owner', 'id-gpu')].map(({ id }) => id)).toEqual([world.worker]);
    expect(idleWorkers(world)).toBe(1);
  });

  it('joins under the name that its cloud gave its machine', async () => {
    const world = await open(undefined, (name) => `i-${name}`);

    expect(world.rows.get(world.computer)?.machine).toBe(`i-${world.computer}`);
    expect(world.store.view.agents.get(world.computer)).toMatchObject({ use: 'computer', owner: DESK.id });
  });

  it('reconnects with its key alone, and with no other key', async () => {
    const world = await open();
    const { peerAddress, token, key } = proofOf(world, world.computer);
    const about = hello(world.computer, DESK.name);

    await expect(world.machines.join(about, { peerAddress, key })).resolves.toMatchObject({ use: 'computer' });
    await expect(world.machines.join(about, { peerAddress, token, key: 'stolen' })).rejects.toMatchObject({
      kind: 'denied',
    });
    await expect(world.machines.join(about, { peerAddress, token })).rejects.toMatchObject({ kind: 'denied' });
  });

  it.each(['of another computer', 'of a launch that the server does not know', 'of no launch'])(
    'is not admitted by a token %s',
    async (of) => {
      const world = await open(() => false);
      world.computers.create();
      await world.clock.advance(MINUTE_MS);
      const [first = '', second = ''] = world.rows.keys();
      const tokens: Record<string, string | undefined> = {
        'of another computer': proofOf(world, second).token,
        'of a launch that the server does not know': world.plane.access.launchToken('01gone'),
      };
      const proof = { ...proofOf(world, first), token: tokens[of] };

      await expect(world.machines.join(hello(first, DESK.name), proof)).rejects.toMatchObject({ kind: 'denied' });
      expect(world.store.view.agents.size).toBe(0);
    },
  );

  it('leaves when its stream ends, and its feature hears of it', async () => {
    const world = await open();

    world.agents.cutOff([world.computer], true);
    await world.clock.advance(SECOND_MS);

    expect(world.store.view.agents.get(world.computer)).toBeUndefined();
    expect(kinds(world)).toContain('computer.disconnected');
    expect(kinds(world)).not.toContain('worker.lost');
    expect(idleWorkers(world)).toBe(1);
  });

  it('goes with its machine, and the worker beside it stays', async () => {
    const world = await open();

    world.computers.remove();
    await world.clock.advance(5 * MINUTE_MS);

    expect(world.rows.size).toBe(0);
    expect([...world.store.view.agents.all()].map(({ id }) => id)).toEqual([world.worker]);
    expect(world.cloud.machines().map(({ name }) => name)).toEqual([world.worker]);
    expect(kinds(world)).not.toContain('machine.swept');
    expect(idleWorkers(world)).toBe(1);
  });
});

describe.each(['while it is open', 'once it is over'])('the token of a launch, %s,', (when) => {
  /** Machines whose agents have not joined, so that their tokens are not used up. */
  async function unmet() {
    const world = await open(() => false);
    if (when === 'once it is over') expect(world.store.view.launches.size).toBe(0);
    else {
      const [computer, worker] = [world.computer, world.worker].map((machine) =>
        world.cloud.machines().find(({ name }) => name === machine),
      );
      for (const { launch } of [computer, worker].flatMap((made) => made ?? []))
        if (launch) await world.store.commit([{ table: 'launches', id: launch.id, row: recordOf(launch) }]);
    }
    return world;
  }

  it('for a worker does not admit an agent as a computer', async () => {
    const world = await unmet();
    const proof = proofOf(world, world.worker);

    for (const pool of [DESK.name, 'gpu'])
      await expect(world.machines.join(hello(world.computer, pool), proof)).rejects.toMatchObject({
        kind: expect.stringMatching(/denied|missing/),
      });
    expect(world.store.view.agents.size).toBe(0);
    await expect(world.machines.join(hello(world.worker, 'gpu'), proof)).resolves.toMatchObject({ use: 'worker' });
  });

  it('for a computer does not admit an agent as a worker', async () => {
    const world = await unmet();
    const proof = proofOf(world, world.computer);

    for (const pool of [DESK.name, 'gpu'])
      for (const name of [world.worker, 'desk-7'])
        await expect(world.machines.join(hello(name, pool), proof)).rejects.toMatchObject({ kind: 'denied' });
    expect(world.store.view.agents.size).toBe(0);
    await expect(world.machines.join(hello(world.computer, DESK.name), proof)).resolves.toMatchObject({
      use: 'computer',
    });
  });
});

function recordOf({ id, mark, names, boot, askedAt }: NonNullable<SimMachine['launch']>) {
  return { id, offer: 'shape1', mark, names, agentConfig: boot.agentConfig, install: boot.install, askedAt };
}
