import { describe, expect, it } from 'vitest';
import { addressOf, type FakeContainer } from './fake/container.ts';
import { aBatch, CLUSTER, going, openBackend, openScene, type Scene } from './fake/testing.ts';

async function running(count = 1) {
  const scene = openScene();
  const backend = await openBackend(scene);
  await scene.during(backend.create(aBatch(count), going()));
  const list = () => scene.during(backend.list(going()));
  return { scene, backend, list, container: scene.fake.containers[0] as FakeContainer };
}

describe('a container that has ended', () => {
  it.each([
    [{}, 1, 'unavailable', 'the container has ended with exit code 1'],
    [
      { isOutOfMemory: true },
      137,
      'exhausted',
      'the container has ended with exit code 137, killed for want of memory',
    ],
    [
      { log: 'one\ntwo\nthree\nmuster: Cannot reach the broker.' },
      2,
      'unavailable',
      'the container has ended with exit code 2; its log ends: two three muster: Cannot reach the broker.',
    ],
    [
      { log: '[FATAL tini (7)] exec nonsense failed: No such file or directory' },
      127,
      'unavailable',
      'the container has ended with exit code 127: its image does not start the agent; its log ends: [FATAL tini (7)] exec nonsense failed: No such file or directory',
    ],
  ] as const)('%j has failed, and its worker learns why', async (how, code, kind, message) => {
    const { scene, list, container } = await running();
    scene.fake.die(container, code, how);
    const [machine] = await list();

    expect(machine).toMatchObject({ state: 'failed', trouble: { kind, message, final: true } });
  });

  it('is looked at once', async () => {
    const { scene, list, container } = await running();
    scene.fake.die(container, 1);
    const before = scene.fake.countOf('inspect');
    for (let times = 0; times < 3; times++) await list();

    expect(scene.fake.countOf('inspect') - before).toBe(1);
  });

  it('is listed also where nobody can look at it', async () => {
    const { scene, list, container } = await running();
    scene.fake.die(container, 3);
    scene.fake.failureRules.add({ action: 'inspect', times: 10, what: { kind: 'garbage' } });

    expect(await list()).toMatchObject([{ trouble: { message: 'the container has ended with exit code 3' } }]);
  });
});

describe('a listing', () => {
  it('shows the address of a container that has one', async () => {
    const { list, container } = await running();

    expect(await list()).toMatchObject([{ state: 'running', addresses: [addressOf(container)] }]);
  });

  it('asks the engine for the containers of this cluster alone', async () => {
    const { scene, list } = await running();
    scene.fake.run('other', { 'io.muster.cluster': CLUSTER });
    await list();
    const call = scene.fake.calls.findLast(({ action }) => action === 'list');

    expect(JSON.parse(call?.query.filters ?? '')).toEqual({ label: [`io.muster.cluster=${CLUSTER}`] });
    expect(await list()).toHaveLength(1);
  });
});

describe('a deletion', () => {
  it('stops the container before it removes it, with its volumes', async () => {
    const { scene, backend, list } = await running(2);
    const [machine] = await list();
    await scene.during(backend.delete(machine ? [machine] : [], going()));
    const asked = scene.fake.calls.slice(-2).map(({ action, query }) => [action, query]);

    expect(asked).toEqual([
      ['stop', {}],
      ['delete', { force: '1', v: '1' }],
    ]);
    expect(await list()).toHaveLength(1);
  });

  it('by another process looks at the labels first', async () => {
    const { scene, list } = await running();
    const [machine] = await list();
    const other = await openBackend(scene);
    await scene.during(other.delete(machine ? [machine] : [], going()));

    expect(scene.fake.calls.slice(-3).map(({ action }) => action)).toEqual(['inspect', 'stop', 'delete']);
  });

  it('waits as long as the sessions of a container have', async () => {
    const scene = openScene({ stopMs: 80_000 });
    const backend = await openBackend(scene, { stopTimeout: '90s' });
    await scene.during(backend.create(aBatch(1), going()));
    const machines = await scene.during(backend.list(going()));

    expect(await scene.during(backend.delete(machines, going()))).toEqual([{ name: machines[0]?.name }]);
  });
});

describe('events', () => {
  async function watching(scene: Scene) {
    const backend = await openBackend(scene);
    let hints = 0;
    const ending = new AbortController();
    backend.watch?.(() => {
      hints += 1;
    }, ending.signal);
    await scene.clock.advance(100);
    return { backend, hints: () => hints, ending };
  }

  it('are heard again after the engine was away, and count as a hint', async () => {
    const scene = openScene();
    const { hints } = await watching(scene);
    scene.fake.failureRules.add({ action: 'events', times: 3, what: { kind: 'lost request' } });
    scene.fake.events.cut();
    await scene.clock.advance(60_000);
    const before = hints();
    scene.fake.run('x', { 'io.muster.cluster': CLUSTER });
    await scene.clock.advance(10);

    expect(before).toBeGreaterThan(0);
    expect(hints()).toBe(before + 2);
    expect(scene.fake.events.listening()).toBe(1);
  });

  it('about containers of others are not asked for', async () => {
    const scene = openScene();
    const { hints } = await watching(scene);
    scene.fake.run('theirs', { 'io.muster.cluster': 'cluster9' });
    await scene.clock.advance(10);

    expect(hints()).toBe(0);
  });
});
