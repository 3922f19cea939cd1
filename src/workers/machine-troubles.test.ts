import { describe, expect, it } from 'vitest';
import type { Hello, JoinProof } from '#core/agent-link.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const HELLO = {
  slots: 1,
  labels: {},
  wire: 'muster',
  version: '1',
  hostname: '',
  address: '',
  executions: [],
} as const;
const SCALING = { minIdleSlots: 2, maxIdleSlots: 9 };

async function withMachines() {
  const pools = [aPool(SCALING), aPool({}, { name: 'cpu' })];
  const world = await openPoolWorld({ pools, doesBoot: () => false });
  await world.advance(MINUTE_MS);
  const [worker, other] = [...world.life.store.view.workers.by('pool', 'id-gpu')];
  const token = world.life.access.launchToken(worker?.launch ?? '');
  const name = worker?.id ?? '';
  const call = (more: Partial<Hello> = {}, proof: Partial<JoinProof> = {}) =>
    world.join({ ...HELLO, name, pool: 'gpu', ...more }, { peerAddress: '10.0.0.9', key: 'its own', ...proof });
  return { world, name, other: other?.id ?? '', token, call };
}

const trouble = ({ life }: PoolWorld) => life.workers.trouble('id-gpu');
const events = ({ disk }: PoolWorld, kind: string) => disk.histories.events.filter((event) => event.kind === kind);

describe('an agent of a pool that is refused', () => {
  it.each([
    ['without a token', {}, {}, /requires agents to have a token\. .*`muster token create --join POOL`/],
    ['with a token that is not of its pool', {}, { token: 'mjt_other' }, /of another pool\. .*`muster token create/],
    ['under the name of another pool', { pool: 'cpu' }, {}, /belongs to another pool than cpu\. Correct `pool`/],
    ['under the name of no pool', { pool: 'gpus' }, {}, /There is no pool "gpus"\./],
  ])('%s shows with pool, worker and remedy, once', async (_, hello, proof, said) => {
    const { world, name, call } = await withMachines();

    for (let tries = 0; tries < 3; tries += 1) {
      await expect(call(hello, proof)).rejects.toThrow();
      await world.advance(30 * SECOND_MS);
    }

    expect(trouble(world)).toMatchObject({ reason: 'AgentRefused', message: expect.stringMatching(said) });
    expect(trouble(world)?.message).toContain(`the agent of ${name} in pool gpu`);
    expect(events(world, 'worker.refused')).toMatchObject([{ subject: `worker/${name}`, pool: 'id-gpu' }]);
  });

  it('stays the one that the pool names while others are refused too, and goes when it has joined', async () => {
    const { world, name, other, token, call } = await withMachines();
    await expect(call()).rejects.toThrow();
    await world.advance(SECOND_MS);
    await expect(call({ name: other })).rejects.toThrow();
    await expect(call()).rejects.toThrow();
    await world.advance(SECOND_MS);
    const first = trouble(world)?.message;

    await call({}, { token });
    await world.advance(SECOND_MS);

    expect(first).toContain(name);
    expect(trouble(world)?.message).toContain(other);
    expect(events(world, 'worker.refused')).toHaveLength(1);
  });
});

describe('a machine of a pool that runs and shows trouble', () => {
  it('is named while its agent is away, also one that had joined before, and no longer once it is connected', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })] });
    await world.advance(MINUTE_MS);
    const [name = ''] = world.agents.all.keys();
    const crash = { kind: 'unavailable', reason: 'CrashLoopBackOff', message: 'it ends', final: false } as const;
    world.cloud.trouble(name, crash, 'running');
    await world.advance(MINUTE_MS);
    const connected = trouble(world);

    world.agents.cutOff([name], true);
    await world.advance(MINUTE_MS);
    const away = trouble(world);
    world.agents.cutOff([name], false);
    await world.advance(MINUTE_MS);

    expect(connected).toBeUndefined();
    expect(away).toEqual({ kind: 'unavailable', reason: 'CrashLoopBackOff', message: 'it ends' });
    expect(events(world, 'worker.trouble')).toMatchObject([{ subject: `worker/${name}`, message: 'It ends.' }]);
    expect(trouble(world)).toBeUndefined();
  });
});

describe('since when a pool has trouble', () => {
  const since = ({ life }: PoolWorld) => life.workers.troubled().get('id-gpu');

  it('is when it began, whatever it says meanwhile, and nothing once it is over', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })] });
    await world.advance(MINUTE_MS);
    const [name = ''] = world.agents.all.keys();
    const seen = [since(world)];
    const crash = { kind: 'unavailable', reason: 'CrashLoopBackOff', final: false } as const;
    world.cloud.trouble(name, { ...crash, message: 'it ended once' }, 'running');
    world.agents.cutOff([name], true);
    await world.advance(MINUTE_MS);
    seen.push(since(world));
    world.cloud.trouble(name, { ...crash, message: 'it ended twice' }, 'running');
    await world.advance(MINUTE_MS);
    seen.push(since(world));
    world.agents.cutOff([name], false);
    await world.advance(MINUTE_MS);

    expect(seen[0]).toBeUndefined();
    expect(seen[1]).toBeGreaterThan(0);
    expect(seen[2]).toBe(seen[1]);
    expect(trouble(world)).toBeUndefined();
    expect(since(world)).toBeUndefined();
  });
});

describe('what a worker waits for', () => {
  const waitOf = ({ life }: PoolWorld, name: string) => {
    const worker = life.store.view.workers.get(name);
    return worker && life.workers.bootWait(worker);
  };

  it('is the state of its machine, then why its agent is refused, and nothing once the agent has joined', async () => {
    const { world, name, token, call } = await withMachines();
    const seen = [waitOf(world, name)];
    await world.advance(5 * MINUTE_MS);
    seen.push(waitOf(world, name));
    await expect(call()).rejects.toThrow();
    seen.push(waitOf(world, name));
    await call({}, { token });
    seen.push(waitOf(world, name));

    expect(seen).toEqual([
      'its machine was launched, and the last listing of its cloud does not show it yet',
      'its machine runs, and its agent has not joined',
      expect.stringMatching(/^the server refuses its agent: .*`muster token create --join POOL`/),
      undefined,
    ]);
  });
});
