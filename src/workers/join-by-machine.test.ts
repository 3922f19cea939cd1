import { describe, expect, it } from 'vitest';
import type { JoinProof } from '#core/agent-link.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend } from '#core/provider.ts';
import { aPool } from '#core/testing/pool.ts';
import { simKind } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const HELLO = { pool: 'gpu', slots: 2, labels: {}, version: '1', hostname: 'host', address: '10.0.0.9' };

const join = (world: PoolWorld, name: string, proof: JoinProof) =>
  world.life.machines.join({ ...HELLO, name, wire: 'muster', executions: [] }, proof);

describe('a pool whose agents prove themselves by their machine', () => {
  /** The cloud lists an address for its machines, once it has given them one. */
  async function withAddress(address: () => string | undefined) {
    const world = await openPoolWorld({
      doesBoot: () => false,
      pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 9 }, { agentAuth: 'machine' })],
      kinds: (cloud, isAlive) => {
        const backend = cloud.backend(isAlive);
        const list: Backend['list'] = async (signal) =>
          (await backend.list(signal)).map((machine) => {
            const given = address();
            return given === undefined ? machine : { ...machine, addresses: [given] };
          });
        return { sim: { ...simKind(cloud, isAlive), open: async () => ({ ...backend, list }) } };
      },
    });
    await world.advance(SECOND_MS);
    const [worker] = world.life.store.view.workers.all();
    const name = worker?.id ?? '';
    await world.advance(MINUTE_MS);
    return { world, name, from: (peerAddress: string, key?: string) => join(world, name, { peerAddress, key }) };
  }

  it('admits an agent without a token that connects from the address of the machine of its name', async () => {
    const { from, name, world } = await withAddress(() => '10.0.0.9');

    await expect(from('::ffff:10.0.0.9')).resolves.toMatchObject({ id: name });
    expect(world.phases()).toBe('1 idle');
  });

  it('refuses the right name from another address, and the right address under another name', async () => {
    const { from, world } = await withAddress(() => '10.0.0.9');

    await expect(from('10.0.0.10')).rejects.toMatchObject({ kind: 'denied' });
    await expect(join(world, 'm-other', { peerAddress: '10.0.0.9' })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  describe('that is refused', () => {
    const told = ({ disk }: PoolWorld) => disk.histories.events.filter(({ kind }) => kind === 'worker.refused');

    it('because of address translation is named with pool, worker and remedy, in one event, until it joins', async () => {
      const { from, world, name } = await withAddress(() => '10.0.0.9');
      for (let tries = 0; tries < 5; tries += 1) {
        await expect(from('172.16.0.1')).rejects.toMatchObject({ kind: 'denied' });
        await world.advance(MINUTE_MS);
      }
      const during = world.life.workers.trouble('id-gpu');
      await from('10.0.0.9');
      await world.advance(SECOND_MS);

      expect(during).toMatchObject({ kind: 'denied', reason: 'AgentRefused' });
      expect(during?.message).toBe(
        `the server refuses the agent of ${name} in pool gpu: Pool gpu admits ${name} only from 10.0.0.9; this connection comes from 172.16.0.1. Connect without a proxy or address translation between agent and broker, or use \`agent_auth: token\`.`,
      );
      expect(told(world)).toMatchObject([{ subject: `worker/${name}`, pool: 'id-gpu' }]);
      expect(world.life.workers.trouble('id-gpu')).toBeUndefined();
    });

    it('because its cloud never lists an address is named once that does not pass', async () => {
      const { from, world } = await withAddress(() => undefined);

      await expect(from('10.0.0.9')).rejects.toMatchObject({ kind: 'unavailable' });
      const first = world.life.workers.trouble('id-gpu');
      await world.advance(MINUTE_MS);

      expect(first).toBeUndefined();
      expect(world.life.workers.trouble('id-gpu')?.message).toContain('set `agent_auth: token`');
      expect(told(world)).toHaveLength(1);
    });

    it('and calls no more is forgotten after a while', async () => {
      const { from, world } = await withAddress(() => '10.0.0.9');
      await expect(from('172.16.0.1')).rejects.toMatchObject({ kind: 'denied' });

      await world.advance(11 * MINUTE_MS);

      expect(world.life.workers.trouble('id-gpu')).toBeUndefined();
    });

    it('under a name that no worker has changes nothing: it may be anybody', async () => {
      const { world } = await withAddress(() => '10.0.0.9');

      await expect(join(world, 'm-other', { peerAddress: '10.0.0.1' })).rejects.toThrow();
      await world.advance(MINUTE_MS);

      expect(world.life.workers.trouble('id-gpu')).toBeUndefined();
      expect(told(world)).toEqual([]);
    });
  });

  it('asks an agent to come back while the cloud has not listed an address, and lists again at once', async () => {
    let address: string | undefined;
    const { from, world, name } = await withAddress(() => address);
    await expect(from('10.0.0.9')).rejects.toMatchObject({ kind: 'unavailable' });
    address = '10.0.0.9';

    await world.advance(5 * SECOND_MS);

    await expect(from('10.0.0.9')).resolves.toMatchObject({ id: name });
  });

  it('refuses a second agent while the first is connected, and lets the first reconnect by its key', async () => {
    const { from, name } = await withAddress(() => '10.0.0.9');
    await from('10.0.0.9', 'first');

    await expect(from('10.0.0.9', 'second')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(from('10.0.0.9')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(from('10.0.0.9', 'first')).resolves.toMatchObject({ id: name });
  });

  it('lets an agent reconnect by its key while the cloud lists no address, but no other', async () => {
    let address: string | undefined = '10.0.0.9';
    const { from, name, world } = await withAddress(() => address);
    const { epoch } = await from('10.0.0.9', 'first');
    world.life.machines.leave(name, epoch);
    address = undefined;
    await world.advance(2 * MINUTE_MS);

    await expect(from('10.0.0.9', 'second')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(from('10.0.0.9')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(from('10.0.0.9', 'first')).resolves.toMatchObject({ id: name });
  });

  it('waits for agents without a key that call while the cloud cannot be listed after a restart', async () => {
    let isAway = false;
    const { from, world } = await withAddress(() => {
      if (isAway) throw new Fault('unavailable', 'The cloud is away.');
      return '10.0.0.9';
    });
    await from('10.0.0.9');
    isAway = true;
    world.crash();
    await world.start();
    const calls: string[] = [];
    for (let rounds = 0; rounds < 40; rounds++) {
      if (rounds === 20) isAway = false;
      calls.push(
        await from('10.0.0.9').then(
          () => 'joined',
          ({ kind }: Fault) => kind,
        ),
      );
      await world.advance(20 * SECOND_MS);
    }

    expect(calls.slice(0, 20)).toEqual(Array(20).fill('unavailable'));
    expect(calls.filter((call) => call === 'joined')).toHaveLength(1);
    expect(world.phases()).toBe('1 idle');
    expect(world.cloud.made.size).toBe(1);
  });

  it('admits a container that was started anew without its files, once the old connection has ended', async () => {
    const { from, name, world } = await withAddress(() => '10.0.0.9');
    const { epoch } = await from('10.0.0.9', 'first');
    world.life.machines.leave(name, epoch);

    await expect(from('10.0.0.9', 'second')).resolves.toMatchObject({ id: name });
    await expect(from('10.0.0.9', 'second')).resolves.toMatchObject({ id: name });
  });
});
