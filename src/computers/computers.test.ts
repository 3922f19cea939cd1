import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { simCloud, simKind } from '#sim/backend.ts';
import { ADMIN, ANN, openComputerWorld } from './testing/world.ts';

const refusesCreate = (fault: Fault, times = Number.POSITIVE_INFINITY) => {
  let count = 0;
  return ({ name }: { readonly name: string }) =>
    name === 'create' && count++ < times ? ({ is: 'refused', fault } as const) : undefined;
};

describe('a computer', () => {
  it('starts, runs once its agent has joined, and leaves nothing when it is removed', async () => {
    const world = await openComputerWorld();
    await world.create('dev');
    expect(world.statusOf('dev')).toBe('starting');

    await world.advance(MINUTE_MS);
    expect(world.statusOf('dev')).toBe('running');
    expect(world.computers.find('dev')).toMatchObject({ isAgentHere: true, why: undefined });
    expect(world.made()).toHaveLength(1);

    await world.computers.remove('dev', ADMIN);
    expect(world.statusOf('dev')).toBe('stopping');
    await world.advance(5 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('none');
    expect(world.made()).toEqual([]);
    expect(world.disk.histories.endedComputers).toMatchObject([
      { name: 'dev', by: 'token:admin', endedBy: 'token:admin', why: 'Removed by token:admin.' },
    ]);
    expect(world.eventsOf('dev')).toEqual(
      expect.arrayContaining(['computer.created', 'computer.asked', 'computer.running', 'computer.stopped']),
    );
    const messages = world.disk.histories.events.map(({ message }) => message);
    expect(messages).toContain('Removing the machine: Removed by token:admin.');
    expect(messages.filter((message) => message.endsWith('..'))).toEqual([]);
  });

  it('is launched again after 2 and 4 seconds when the cloud refuses, and fails after the last try', async () => {
    const world = await openComputerWorld();
    world.cloud.script = refusesCreate(new Fault('exhausted', 'No room.'));
    await world.create('dev');

    await world.advance(SECOND_MS);
    const creates = () => world.cloud.calls.filter(({ name }) => name === 'create').length;
    expect(creates()).toBe(1);
    await world.advance(3 * SECOND_MS);
    expect(creates()).toBe(2);
    await world.advance(MINUTE_MS);

    expect(creates()).toBe(3);
    expect(world.computers.find('dev')).toMatchObject({ status: 'error', why: 'Failed after 3 attempts: No room.' });
    const events = world.eventsOf('dev');
    const count = (kind: string): number => events.filter((each) => each === `computer.${kind}`).length;
    expect([count('retrying'), count('machine-failed'), count('failed')]).toEqual([2, 3, 1]);
    expect(world.made()).toEqual([]);
  });

  it('comes up after refusals, as one machine', async () => {
    const world = await openComputerWorld();
    world.cloud.script = refusesCreate(new Fault('exhausted', 'No room.'), 2);
    await world.create('dev');

    await world.advance(2 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('running');
    expect(world.made()).toHaveLength(1);
  });

  it('is launched only once its agent is packed, and never refused for want of it', async () => {
    const archive = { machine: 'x86_64', url: 'https://muster/agent.tar.gz', sha256: 'ab12' };
    let isPacked = false;
    const world = await openComputerWorld({
      kinds: (cloud, isAlive) => ({ bare: { ...simKind(cloud, isAlive), boots: 'script' } }),
      parts: {
        async packAgent() {
          isPacked = true;
        },
        install: () => (isPacked ? { archives: [archive] } : undefined),
      },
    });

    await world.create('dev', { backend: { bare: {} } });
    await world.advance(MINUTE_MS);

    expect(world.statusOf('dev')).toBe('running');
    const [made] = world.cloud.machines();
    expect(made?.launch?.boot.install).toEqual({ archives: [archive] });
    expect(world.eventsOf('dev').filter((kind) => kind === 'computer.asked')).toHaveLength(1);
  });

  it('is refused as often as it may be where its cloud cannot be opened', async () => {
    const world = await openComputerWorld({
      kinds: (cloud, isAlive) => ({
        closed: {
          ...simKind(cloud, isAlive),
          open: () => Promise.reject(new Fault('unauthenticated', 'No credentials.')),
        },
      }),
    });

    await world.create('dev', { backend: { closed: {} } });
    await world.advance(MINUTE_MS);

    expect(world.computers.find('dev')).toMatchObject({
      status: 'error',
      why: 'Failed after 3 attempts: No credentials.',
    });
  });

  it('makes no second machine when the answer to the launch is lost', async () => {
    const world = await openComputerWorld();
    let count = 0;
    world.cloud.script = ({ name }) => (name === 'create' && count++ === 0 ? { is: 'lost reply' } : undefined);
    await world.create('dev');

    await world.advance(5 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('running');
    expect(world.made()).toHaveLength(1);
  });

  it('that does not run in time fails, and its machine is deleted', async () => {
    const world = await openComputerWorld({ doesBoot: () => false });
    await world.create('dev');

    await world.advance(9 * MINUTE_MS);
    expect(world.computers.find('dev')).toMatchObject({
      status: 'starting',
      why: 'Its machine runs; its agent has not joined yet.',
    });
    await world.advance(5 * MINUTE_MS);

    expect(world.computers.find('dev')).toMatchObject({
      status: 'error',
      why: 'Operation timed out after 600 s: its machine is running, and its agent has not joined',
    });
    expect(world.made()).toEqual([]);
  });

  it('is never replaced when its machine vanishes: it says so until it is removed', async () => {
    const world = await openComputerWorld();
    await world.create('dev');
    await world.advance(MINUTE_MS);

    world.cloud.kill(world.made()[0] ?? '');
    await world.advance(10 * MINUTE_MS);

    expect(world.computers.find('dev')).toMatchObject({
      status: 'error',
      why: 'Its machine is gone from the platform.',
    });
    expect(world.made()).toEqual([]);
    await world.computers.remove('dev', ADMIN);
    await world.advance(MINUTE_MS);
    expect(world.statusOf('dev')).toBe('none');
  });

  it('ends when its time to live is over, and says so in the history', async () => {
    const world = await openComputerWorld();
    await world.create('dev', { ttlMs: HOUR_MS });
    await world.advance(59 * MINUTE_MS);
    expect(world.statusOf('dev')).toBe('running');

    await world.advance(10 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('none');
    expect(world.made()).toEqual([]);
    expect(world.disk.histories.endedComputers).toMatchObject([
      { endedBy: 'muster', why: 'Its time to live is over.' },
    ]);
  });

  it('lasts longer once it is extended, and never beyond the limit of the file', async () => {
    const world = await openComputerWorld({ sections: { computers: { maxTtl: '2h', defaultTtl: '1h' } } });
    await world.create('dev');
    await world.advance(30 * MINUTE_MS);

    await world.computers.extend('dev', HOUR_MS, ADMIN);
    await expect(world.computers.extend('dev', HOUR_MS, ADMIN)).rejects.toMatchObject({ kind: 'invalid', at: 'by' });
    await world.advance(80 * MINUTE_MS);
    expect(world.statusOf('dev')).toBe('running');
    await world.advance(20 * MINUTE_MS);
    expect(world.statusOf('dev')).toBe('none');
  });

  it.each([
    ['before its launch', 0],
    ['while its launch is under way', 50],
    ['while its machine boots', 10 * SECOND_MS],
    ['while it runs', MINUTE_MS],
  ])('is removed %s, and nothing of it is left', async (_when, afterMs) => {
    const world = await openComputerWorld();
    await world.create('dev');
    await world.advance(afterMs);

    await world.computers.remove('dev', ADMIN);
    await world.computers.remove('dev', ADMIN);
    await world.advance(10 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('none');
    expect(world.made()).toEqual([]);
    expect(world.life.store.view.computerMachines.size).toBe(0);
    expect(world.life.store.view.launches.size).toBe(0);
  });

  it('is deleted until the cloud agrees', async () => {
    const world = await openComputerWorld();
    await world.create('dev');
    await world.advance(MINUTE_MS);
    let count = 0;
    world.cloud.script = ({ name }) =>
      name === 'delete' && count++ < 3 ? { is: 'refused', fault: new Fault('throttled', 'Slow down.') } : undefined;

    await world.computers.remove('dev', ADMIN);
    await world.advance(10 * MINUTE_MS);

    expect(count).toBeGreaterThan(3);
    expect(world.made()).toEqual([]);
    expect(world.statusOf('dev')).toBe('none');
  });

  it('shows that its agent is away, and since when', async () => {
    const world = await openComputerWorld();
    await world.create('dev');
    await world.advance(MINUTE_MS);

    world.agents.cutOff(world.made(), true);
    await world.advance(SECOND_MS);

    expect(world.computers.find('dev')).toMatchObject({
      status: 'running',
      isAgentHere: false,
      why: expect.stringMatching(/^Its agent is away since 2026-/),
    });
  });

  it('has a launch token that opens nothing a quarter of an hour after its machine was made', async () => {
    const templates = { slow: { platform: 'gcp', options: { project: 'p', timeout: 3_600 } } };
    const world = await openComputerWorld({
      sections: { computers: { templates } },
      doesBoot: () => false,
      moreClouds: (clock) => ({ gce_instance: simCloud({ clock, bootMs: 20_000, answerMs: 100 }) }),
    });
    await world.create('dev', { template: 'slow' });
    const join = async () => {
      const [made] = world.clouds.gce_instance?.machines() ?? [];
      const { name = '', boot } = { name: made?.name, boot: made?.launch?.boot };
      const hello = { name, pool: 'dev', slots: 1, labels: {}, wire: 'muster', version: '1' } as const;
      const proof = { peerAddress: '10.9.9.9', token: boot?.token ?? '', key: 'a key' };
      return world.join({ ...hello, hostname: name, address: '10.9.9.9', executions: [] }, proof);
    };

    await world.advance(16 * MINUTE_MS);

    expect(world.statusOf('dev')).toBe('starting');
    await expect(join()).rejects.toMatchObject({ kind: 'denied', message: expect.stringContaining('has expired') });
  });

  it('keeps its machine across a restart of the server', async () => {
    const world = await openComputerWorld();
    await world.create('dev');
    await world.advance(MINUTE_MS);
    const before = world.made();

    world.crash();
    await world.start();
    await world.advance(10 * MINUTE_MS);

    expect(world.made()).toEqual(before);
    expect(world.statusOf('dev')).toBe('running');
  });
});

describe('creating a computer', () => {
  it('refuses a second one of the same name, and says whose the first is', async () => {
    const world = await openComputerWorld();
    await world.create('dev');

    await expect(world.create('dev')).rejects.toMatchObject({
      kind: 'conflict',
      message: 'There is a computer dev already, created by token:admin.',
    });
  });

  it.each(['Dev', '1st', 'a_b', '', `a${'b'.repeat(63)}`])('refuses the name "%s"', async (name) => {
    const world = await openComputerWorld();
    await expect(world.create(name)).rejects.toMatchObject({ kind: 'invalid', at: 'name' });
  });

  it.each([[{ platform: 'local' }], [{ platform: 'kubernetes' }], [{ backend: { sim: {} } }]])(
    'by an operator is refused for %j',
    async (request) => {
      const world = await openComputerWorld();
      await expect(world.computers.create({ name: 'dev', ...request }, ANN)).rejects.toMatchObject({ kind: 'denied' });
      expect(world.life.store.view.computers.size).toBe(0);
    },
  );

  it('by an operator works from a template of the file, and its options cannot be changed', async () => {
    const templates = { small: { backend: { sim: {} } } };
    const world = await openComputerWorld({ sections: { computers: { templates } } });
    const request = { name: 'dev', template: 'small' };

    await expect(world.computers.create({ ...request, options: { port: 1 } }, ANN)).rejects.toMatchObject({
      at: 'options',
    });
    await world.computers.create(request, ANN);
    await world.advance(MINUTE_MS);

    expect(world.statusOf('dev')).toBe('running');
    await expect(world.computers.create({ name: 'b', template: 'smal' }, ANN)).rejects.toMatchObject({
      remedy: 'Did you mean small?',
    });
  });

  it('beyond the limit of a token is refused', async () => {
    const sections = { computers: { maxPerToken: 1 } };
    const world = await openComputerWorld({ sections });
    await world.create('one');
    await expect(world.create('two')).rejects.toMatchObject({ kind: 'quota' });
  });

  it('without a time to live is refused, unless the file allows it', async () => {
    const strict = await openComputerWorld();
    await expect(strict.create('dev', { ttlMs: 'off' })).rejects.toMatchObject({ at: 'ttl' });
    const open = await openComputerWorld({ sections: { computers: { allowNoTtl: true } } });
    await open.create('dev', { ttlMs: 'off' });
    expect(open.computers.find('dev')?.computer.endsAt).toBeUndefined();
  });

  it('names the nearest platform, and needs exactly one place', async () => {
    const world = await openComputerWorld();
    await expect(world.create('dev', { platform: 'awss' })).rejects.toMatchObject({ remedy: 'Did you mean aws?' });
    await expect(world.computers.create({ name: 'dev' }, ADMIN)).rejects.toMatchObject({ at: 'platform' });
  });
});

describe('a computer of another token', () => {
  it('is neither removed nor extended, but by an admin', async () => {
    const templates = { small: { backend: { sim: {} } } };
    const world = await openComputerWorld({ sections: { computers: { templates } } });
    const other = { ...ANN, who: 'token:bob', token: 't-bob' };
    await world.computers.create({ name: 'dev', template: 'small' }, ANN);

    await expect(world.computers.remove('dev', other)).rejects.toMatchObject({ kind: 'denied' });
    await expect(world.computers.extend('dev', HOUR_MS, other)).rejects.toMatchObject({ kind: 'denied' });
    await world.computers.remove('dev', ADMIN);
    expect(world.statusOf('dev')).toBe('stopping');
  });
});
