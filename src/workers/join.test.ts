import { describe, expect, it } from 'vitest';
import type { Hello, JoinProof } from '#core/agent-link.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { put } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';

const OPS = { who: 'ops', from: 'here' };

const hello = (name: string, more: Partial<Hello> = {}): Hello => ({
  name,
  pool: 'gpu',
  slots: 2,
  labels: { gpu: 'a100' },
  wire: 'muster',
  version: '1',
  hostname: 'host',
  address: '10.0.0.9',
  executions: [],
  ...more,
});

const tokenOf = ({ life }: PoolWorld, launch = ''): string => life.access.launchToken(launch);

/** A world with one machine that the cloud has made and whose agent only comes when the test says so. */
async function withMachine(options: PoolWorldOptions = {}) {
  const world = await openPoolWorld({
    pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 9 })],
    doesBoot: () => false,
    ...options,
  });
  await world.advance(SECOND_MS);
  const [worker] = world.life.store.view.workers.all();
  const proof: JoinProof = { peerAddress: '10.0.0.9', token: tokenOf(world, worker?.launch), key: 'its own' };
  return { world, name: worker?.id ?? '', proof };
}

const join = (world: PoolWorld, name: string, proof: JoinProof) => world.join(hello(name), proof);

describe('an agent that joins', () => {
  it("becomes the agent of its worker, with its pool's labels and its own", async () => {
    const { world, name, proof } = await withMachine({
      pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 9 }, { labels: { zone: 'a', gpu: 'none' } })],
    });

    const agent = await join(world, name, proof);

    expect(agent).toMatchObject({
      id: name,
      use: 'worker',
      owner: 'id-gpu',
      slots: 2,
      labels: { zone: 'a', gpu: 'a100' },
    });
    expect(world.life.store.view.agents.get(name)).toBe(agent);
    expect(world.disk.rows.get('workers')?.get(name)).toMatchObject({ joinedAt: world.clock.now() });
  });

  it('counts only when its joining is durable', async () => {
    let isSlow = false;
    const held: (() => void)[] = [];
    const onWrite = async (_nth: number, write: () => Promise<void>): Promise<void> => {
      if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
      return write();
    };
    const { world, name, proof } = await withMachine({ onWrite });
    isSlow = true;

    const joining = join(world, name, proof);
    await world.advance(SECOND_MS);
    const before = world.life.store.view.agents.size;
    isSlow = false;
    for (const release of held) release();
    await joining;

    expect([before, world.life.store.view.agents.size]).toEqual([0, 1]);
  });

  it('does not look like a shortage while its joining becomes durable', async () => {
    let isSlow = false;
    const held: (() => void)[] = [];
    const onWrite = async (_nth: number, write: () => Promise<void>): Promise<void> => {
      if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
      return write();
    };
    const { world, name, proof } = await withMachine({ onWrite });
    isSlow = true;

    const joining = join(world, name, proof);
    await world.advance(5 * SECOND_MS);

    expect(world.phases()).toBe('1 returning');
    for (const release of held) release();
    isSlow = false;
    await joining;
  });

  it('may come again with its key, and without its token', async () => {
    const { world, name, proof } = await withMachine();
    const first = await join(world, name, proof);
    world.life.machines.leave(name, first.epoch);

    const second = await join(world, name, { peerAddress: '10.0.0.9', key: 'its own' });

    expect(second.epoch).toBeGreaterThan(first.epoch);
  });

  it('keeps its newest connection: the end of an older one changes nothing', async () => {
    const { world, name, proof } = await withMachine();
    const first = await join(world, name, proof);
    const second = await join(world, name, proof);

    world.life.machines.leave(name, first.epoch);
    const still = world.life.store.view.agents.get(name);
    world.life.machines.leave(name, second.epoch);

    expect(still).toBe(second);
    expect(world.life.store.view.agents.get(name)).toBeUndefined();
  });

  it('of two that come at once the newer wins', async () => {
    const { world, name, proof } = await withMachine();

    const [older, newer] = await Promise.all([join(world, name, proof), join(world, name, proof)]);

    expect(newer.epoch).toBeGreaterThan(older.epoch);
    expect(world.life.store.view.agents.get(name)).toBe(newer);
  });

  it('before the cloud has answered is taken as proof that its machine exists', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1 })],
      doesBoot: () => false,
      cloud: { answerMs: 30_000 },
    });
    await world.advance(31 * SECOND_MS);
    const [worker] = world.life.store.view.workers.all();

    await join(world, worker?.id ?? '', { peerAddress: '', token: tokenOf(world, worker?.launch), key: 'k' });

    expect(world.life.store.view.workers.get(worker?.id ?? '')).toMatchObject({ createdAt: world.clock.now() });
    await world.advance(5 * MINUTE_MS);
    expect(world.life.store.view.launches.size).toBe(0);
    expect(world.cloud.machines()).toHaveLength(1);
  });
});

describe('an agent is refused', () => {
  it('in a pool that does not exist', async () => {
    const { world, name, proof } = await withMachine();

    await expect(world.life.machines.join(hello(name, { pool: 'nix' }), proof)).rejects.toMatchObject({
      kind: 'missing',
    });
  });

  it.each([
    ['under a name that was not launched', (name: string, proof: JoinProof) => [`${name}x`, proof]],
    ['without a token', (name: string) => [name, { peerAddress: '' }], 'unauthenticated'],
    [
      'with the token of another launch',
      (name: string, proof: JoinProof, world: PoolWorld) => [name, { ...proof, token: tokenOf(world, 'other') }],
    ],
    ['with a launch token and no key', (name: string, { token }: JoinProof) => [name, { peerAddress: '', token }]],
  ] as const)('%s', async (_what, change, kind?: string) => {
    const { world, name, proof } = await withMachine();
    const [as, shown] = change(name, proof, world) as [string, JoinProof];

    await expect(join(world, as, shown)).rejects.toMatchObject({ kind: kind ?? 'denied' });
    expect(world.life.store.view.agents.size).toBe(0);
  });

  it.each(['while its launch is under way', 'after its launch is done'])(
    'with a launch token of another pool, %s',
    async (when) => {
      const other = aPool({ maxAgents: 0 }, { name: 'other' });
      const { world, name, proof } = await withMachine({
        pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 9 }), other],
      });
      world.cloud.add({ name: 'made-by-hand', mark: undefined, createdAt: 0, state: 'running' });
      if (when.startsWith('after')) await join(world, name, proof);
      await world.advance(2 * MINUTE_MS);

      const joining = world.life.machines.join(hello('made-by-hand', { pool: 'other' }), { ...proof, key: 'second' });

      await expect(joining).rejects.toMatchObject({ kind: 'denied', message: /not made for/ });
    },
  );

  it('with a launch token of another pool, under the name of a worker that came by hand', async () => {
    const manual = aPool({ maxAgents: 0 }, { name: 'manual', offers: [] });
    const { world, proof } = await withMachine({ pools: [aPool({ minIdleSlots: 1 }), manual] });
    const byHand = { id: 'desk-7', pool: 'id-manual', machine: 'desk-7', askedAt: world.clock.now() };
    await world.life.store.commit([put('workers', byHand)]);

    const joining = world.life.machines.join(hello('desk-7', { pool: 'manual' }), proof);

    await expect(joining).rejects.toMatchObject({ kind: 'denied', message: /not made for/ });
  });

  it.each([
    ['of a launch that the server does not know', (world: PoolWorld) => tokenOf(world, 'long gone')],
    ['of another launch of its own pool', tokenOf],
  ] as const)('with a launch token %s, under the name of a worker without a launch', async (_what, token) => {
    const { world, name, proof } = await withMachine();
    const launch = world.life.store.view.workers.get(name)?.launch ?? '';
    const byHand = { id: 'desk-7', pool: 'id-gpu', machine: 'desk-7', askedAt: world.clock.now() };
    await world.life.store.commit([put('workers', byHand)]);

    const joining = join(world, 'desk-7', { ...proof, token: token(world, launch) });

    await expect(joining).rejects.toMatchObject({ kind: 'denied', message: /not made for/ });
    expect(world.life.store.view.agents.size).toBe(0);
  });

  it('with another key than the first, though its token is right', async () => {
    const { world, name, proof } = await withMachine();
    await join(world, name, proof);

    await expect(join(world, name, { ...proof, key: 'stolen token' })).rejects.toMatchObject({ kind: 'denied' });
    await expect(join(world, name, { peerAddress: '', token: proof.token })).rejects.toMatchObject({ kind: 'denied' });
  });

  it('in another pool than its own', async () => {
    const other = aPool({ maxAgents: 0 }, { name: 'other' });
    const { world, name, proof } = await withMachine({ pools: [aPool({ minIdleSlots: 1 }), other] });

    await expect(world.life.machines.join(hello(name, { pool: 'other' }), proof)).rejects.toMatchObject({
      kind: 'denied',
    });
  });

  it('when its removal is committed, also while it was joining', async () => {
    const { world, name, proof } = await withMachine();
    const joining = join(world, name, proof);

    await world.life.workers.drain(name, OPS);
    await expect(joining).rejects.toMatchObject({ kind: 'denied' });
    await world.advance(SECOND_MS);

    await expect(join(world, name, proof)).rejects.toMatchObject({ kind: 'denied' });
  });

  it('when it is being removed, for as long as that takes', async () => {
    const pool = aPool({ minIdleSlots: 1 });
    const { world, name, proof } = await withMachine({ pools: [pool], cloud: { deletingMs: 60 * MINUTE_MS } });
    await world.set({ ...pool, revision: 2, spec: aPool({ maxAgents: 0, idleDecayMs: 0 }).spec });
    await world.advance(MINUTE_MS);

    expect(world.phases()).toBe('1 deleting');
    await expect(join(world, name, proof)).rejects.toMatchObject({ message: `${name} is being removed.` });
  });

  it('when it drains and has no work, but not when it has', async () => {
    const { world, name, proof } = await withMachine();
    const first = await join(world, name, proof);
    await world.life.submit('gpu', 1, 60 * MINUTE_MS);
    await world.advance(SECOND_MS);
    await world.life.workers.drain(name, OPS);

    world.life.machines.leave(name, first.epoch);

    await expect(join(world, name, proof)).resolves.toMatchObject({ id: name });
  });
});

describe('a manual pool', () => {
  const manual = aPool(
    { maxAgents: 0 },
    { name: 'gpu', offers: [], agentAuth: 'network', agentNetworks: ['10.0.0.0/8'] },
  );

  it('admits an agent of its networks under the name it brings', async () => {
    const world = await openPoolWorld({ pools: [manual] });

    const agent = await join(world, 'desk-7', { peerAddress: '10.0.0.9' });

    expect(agent.id).toBe('desk-7');
    expect(world.phases()).toBe('1 idle');
    expect(world.disk.rows.get('workers')?.get('desk-7')).toMatchObject({ pool: 'id-gpu', machine: 'desk-7' });
  });

  it('binds a key that was shown once', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    await join(world, 'desk-7', { peerAddress: '10.0.0.9', key: 'mine' });

    await expect(join(world, 'desk-7', { peerAddress: '10.0.0.9', key: 'yours' })).rejects.toMatchObject({
      kind: 'denied',
    });
  });

  it('forgets a worker that went and did not come back, and takes it again when it does', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    const agent = await join(world, 'desk-7', { peerAddress: '10.0.0.9' });

    world.life.machines.leave('desk-7', agent.epoch);
    await world.advance(MINUTE_MS);
    const away = world.phases();
    await world.advance(20 * MINUTE_MS);

    expect([away, world.phases()]).toEqual(['1 lost', 'none']);
    await expect(join(world, 'desk-7', { peerAddress: '10.0.0.9' })).resolves.toMatchObject({ id: 'desk-7' });
  });
});

describe('an agent whose machine will be taken away', () => {
  it('drains until then, and another machine comes in its place', async () => {
    const { world, name, proof } = await withMachine();
    await join(world, name, proof);
    await world.life.submit('gpu', 1, 30 * MINUTE_MS);
    await world.advance(SECOND_MS);
    const leaving = { why: 'the cloud reclaims its machine', endsAt: world.clock.now() + 2 * MINUTE_MS };

    await world.life.machines.join(hello(name, { leaving, slots: 0 }), proof);
    await world.advance(5 * SECOND_MS);

    expect(world.life.store.view.workers.get(name)?.drain).toMatchObject({
      why: leaving.why,
      deadlineAt: leaving.endsAt,
    });
    expect(world.phases()).toBe('1 booting, 1 draining');
    expect(world.disk.histories.events.map(({ kind }) => kind)).toContain('worker.draining');
  });

  it('does not wait longer for its sessions because it was drained before', async () => {
    const { world, name, proof } = await withMachine();
    await join(world, name, proof);
    await world.life.submit('gpu', 1, 30 * MINUTE_MS);
    await world.advance(SECOND_MS);
    await world.life.workers.drain(name, OPS);
    const leaving = { why: 'the cloud reclaims its machine', endsAt: world.clock.now() + 2 * MINUTE_MS };

    await world.life.machines.join(hello(name, { leaving, slots: 0 }), proof);

    expect(world.life.store.view.workers.get(name)?.drain).toMatchObject({ deadlineAt: leaving.endsAt });
  });

  it('is deleted at once where it has nothing to do', async () => {
    const { world, name, proof } = await withMachine();
    await join(world, name, proof);
    const leaving = { why: 'the cloud reclaims its machine', endsAt: world.clock.now() + 2 * MINUTE_MS };

    const rejoined = world.life.machines.join(hello(name, { leaving, slots: 0 }), proof);

    await expect(rejoined).rejects.toMatchObject({ kind: 'denied' });
    await world.advance(MINUTE_MS);
    expect(world.life.store.view.workers.get(name)).toBeUndefined();
    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
  });
});

describe('a machine that does not start', () => {
  it('shows as the trouble of its pool what the cloud says of it, until its agent joins', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })], doesBoot: () => false });
    await world.advance(SECOND_MS);
    const [made] = world.cloud.machines();
    world.cloud.trouble(made?.name ?? '', { kind: 'exhausted', message: '0/3 nodes are available', final: false });
    await world.advance(2 * MINUTE_MS);
    const before = world.life.workers.trouble('id-gpu')?.message;
    await world.life.machines.join(hello(made?.name ?? ''), {
      peerAddress: '',
      token: tokenOf(world, made?.launch?.id),
      key: 'k',
    });

    expect([before, world.life.workers.trouble('id-gpu')]).toEqual(['0/3 nodes are available', undefined]);
  });
});
