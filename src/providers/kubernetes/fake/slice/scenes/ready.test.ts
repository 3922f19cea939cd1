// What `kubectl wait --for=condition=Ready` hears of a pool that does not have the agents that it must keep.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { AGENT_POD } from '../../../testing.ts';
import type { KubeObject } from '../../objects/object.ts';
import { aNamed, type KubeWorld, openKubeWorld } from './testing.ts';

const ACTOR = { who: 'alice', from: 'here' };
const MANY = 1e9;
const CREATE_PODS = { action: 'create pods', times: MANY } as const;
const forbidden = (message: string) => ({ kind: 'error', code: 'Forbidden', status: 403, message }) as const;
const SIZES = { minReplicas: 2, maxReplicas: 5, minIdle: 3, maxIdle: 5 };

/** Each `Ready` that the object shows from now on, without repeats: `kubectl wait` would stop at the first `True`. */
function readyHistory({ fake }: KubeWorld): readonly string[] {
  const seen: string[] = [];
  fake.world.store.watch(({ object }) => {
    if (object.kind !== 'AgentPool') return;
    const { conditions = [] } = (object.status ?? {}) as { conditions?: Record<string, string>[] };
    const ready = conditions.find(({ type }) => type === 'Ready');
    const shown = ready ? `${ready.status} ${ready.reason}` : 'none';
    if (seen.at(-1) !== shown) seen.push(shown);
  });
  return seen;
}

const statusOf = (world: KubeWorld) => world.pool('gpu')?.status as { desired: number; ready: number };
const freeze = (world: KubeWorld, scope: string) => world.life.workers.freeze(scope, 'an incident', ACTOR);

async function openReady(): Promise<KubeWorld> {
  const world = await openKubeWorld();
  world.apply('gpu', { spec: { autoscaler: SIZES } });
  await world.clock.advance(MINUTE_MS);
  expect(world.condition('gpu', 'Ready')).toContain('True AgentsConnected: 3 of 3 agents are connected.');
  return world;
}

describe('an AgentPool is never Ready', () => {
  const NO_NODE = '0/10 nodes are available: 10 Insufficient cpu.';

  it('while no node has room for its pods', async () => {
    const world = await openKubeWorld();
    const history = readyHistory(world);
    world.fake.kubelet.rules.add({ unschedulable: NO_NODE });

    world.apply('gpu', { spec: { autoscaler: SIZES } });
    await world.clock.advance(10 * MINUTE_MS);

    expect(history.filter((ready) => ready.startsWith('True'))).toEqual([]);
    expect(world.condition('gpu', 'Ready')).toMatch(/^False AgentsStarting: 0 of 3 agents are connected/);
    expect(world.condition('gpu', 'Ready')).toContain(NO_NODE);
    expect(statusOf(world)).toMatchObject({ ready: 0, desired: 3 });
  });

  it.each([
    ['admission refuses its pods', 'pods "x" is forbidden: violates PodSecurity "restricted:latest"'],
    [
      'the server has no right to create pods',
      'pods is forbidden: User "muster" cannot create resource "pods" in API group "" in the namespace "default"',
    ],
  ])('while %s', async (_, message) => {
    const world = await openKubeWorld();
    const history = readyHistory(world);
    world.fake.failureRules.add({ ...CREATE_PODS, what: forbidden(message) });

    world.apply('gpu', { spec: { autoscaler: SIZES } });
    await world.clock.advance(10 * MINUTE_MS);

    expect(history.filter((ready) => ready.startsWith('True'))).toEqual([]);
    expect(world.condition('gpu', 'Ready')).toMatch(/^False PodsRefused: 0 of 3 agents are connected/);
    expect(world.condition('gpu', 'Ready')).toContain(message);
    expect(statusOf(world)).toMatchObject({ ready: 0, desired: 3 });
  });

  it('while agents are lost', async () => {
    const world = await openReady();
    const history = readyHistory(world);
    const [first = ''] = world.agents.all.keys();

    world.fake.kubelet.rules.add({ startMs: MANY });
    world.agents.cutOff([first], true);
    await world.clock.advance(2 * MINUTE_MS);

    expect(history.filter((ready) => ready !== 'True AgentsConnected')).toEqual(['False AgentsLost']);
    expect(world.condition('gpu', 'Ready')).toContain(
      'False AgentsLost: 2 of 3 agents are connected; 1 is disconnected.',
    );
    expect(statusOf(world)).toMatchObject({ ready: 2, desired: 3 });
  });

  it('while launching is suspended because no pod of it ever joined', async () => {
    const world = await openKubeWorld();
    const history = readyHistory(world);
    world.fake.kubelet.rules.add({ startMs: MANY });

    world.apply('gpu', { spec: { autoscaler: SIZES, bootTimeoutSeconds: 30 } });
    await world.clock.advance(2 * MINUTE_MS);

    expect(history.filter((ready) => ready.startsWith('True'))).toEqual([]);
    expect(world.condition('gpu', 'Ready')).toMatch(/^False LaunchingSuspended: 0 of 3 agents are connected/);
    expect(statusOf(world)).toMatchObject({ ready: 0, desired: 3 });
  });

  it.each([
    ['it is frozen', 'gpu', '`muster thaw -p gpu`'],
    ['the fleet is frozen', 'fleet', 'an operator must run `muster thaw`'],
  ])('while %s, though all of its agents are connected', async (_, scope, remedy) => {
    const world = await openReady();

    await freeze(world, scope === 'fleet' ? scope : (world.poolId(scope) ?? ''));
    await world.clock.advance(10 * SECOND_MS);

    expect(world.condition('gpu', 'Ready')).toContain('False Frozen: ');
    expect(world.condition('gpu', 'Ready')).toContain('an incident');
    expect(world.condition('gpu', 'Ready')).toContain(remedy);
  });

  it('before the server has looked at it, and it is Ready once all that it must keep is there', async () => {
    const world = await openKubeWorld();
    const history = readyHistory(world);

    world.apply('gpu', { spec: { autoscaler: SIZES } });
    await world.clock.advance(MINUTE_MS);

    expect(history.at(-1)).toBe('True AgentsConnected');
    expect(history.filter((ready) => ready.startsWith('True'))).toHaveLength(1);
  });
});

describe('an AgentPool that is Ready', () => {
  it('stays so when the server starts anew', async () => {
    const world = await openReady();
    const history = readyHistory(world);

    world.restart();
    await world.clock.advance(5 * MINUTE_MS);

    expect(history.filter((ready) => ready !== 'True AgentsConnected')).toEqual([]);
    expect(world.condition('gpu', 'Ready')).toContain('True AgentsConnected');
  });

  it('is so again after an edit that changes nothing of its size', async () => {
    const world = await openReady();

    world.others.patch(aNamed('gpu'), { spec: { description: 'for teams' } });
    await world.clock.advance(10 * SECOND_MS);

    expect(world.pool('gpu')?.status).toMatchObject({ observedGeneration: 2, state: 'Ready' });
  });

  it('is not so for a newer generation until the server has looked at that', async () => {
    const world = await openReady();
    const shown: string[] = [];
    world.fake.world.store.watch(({ object }: { object: KubeObject }) => {
      const status = object.status as { observedGeneration?: number } | undefined;
      if (object.kind === 'AgentPool' && status?.observedGeneration === 2) shown.push(world.condition('gpu', 'Ready'));
    });

    world.others.patch(aNamed('gpu'), { spec: { autoscaler: { minReplicas: 5 } } });
    await world.clock.advance(500);
    const first = shown[0];
    await world.clock.advance(MINUTE_MS);

    expect(first).toMatch(/^(Unknown Reconciling|False AgentsStarting)/);
    expect(shown.at(-1)).toContain('True AgentsConnected: 5 of 5');
  });
});

it('a pool whose pods are refused writes its status once, not at each retry', async () => {
  const world = await openKubeWorld();
  const template = { ...AGENT_POD, spec: { containers: [{ name: 'Not_A_Name', image: 'veldaio/agent:latest' }] } };
  world.apply('gpu', { spec: { autoscaler: SIZES, template } });
  await world.clock.advance(3 * MINUTE_MS);
  const before = world.condition('gpu', 'Ready');
  world.calls([]);

  await world.clock.advance(20 * MINUTE_MS);
  const calls = world.calls(['create', 'patch']);

  expect(before).toContain('False PodsRefused');
  expect(before).toContain('Not_A_Name');
  expect(world.condition('gpu', 'Ready')).toBe(before);
  expect(calls.filter((call) => call.startsWith('create pods')).length).toBeGreaterThan(5);
  expect(calls.filter((call) => call.includes('agentpools'))).toEqual([]);
});

describe('the annotation velda.io/thaw', () => {
  const ANNOTATED = { metadata: { annotations: { 'velda.io/thaw': '' } } };
  const annotationsOf = (world: KubeWorld) => Object.keys(world.pool('gpu')?.metadata.annotations ?? {});

  it('thaws its pool and no other, and is removed', async () => {
    const world = await openReady();
    world.apply('other');
    await world.clock.advance(MINUTE_MS);
    for (const name of ['gpu', 'other']) await freeze(world, world.poolId(name) ?? '');
    await world.clock.advance(10 * SECOND_MS);
    const frozen = world.condition('gpu', 'Frozen');

    world.others.patch(aNamed('gpu'), ANNOTATED);
    await world.clock.advance(10 * SECOND_MS);

    expect(frozen).toContain('True PoolFrozen: The pool is frozen since');
    expect(frozen).toContain('run `muster thaw -p gpu` or annotate the AgentPool with `velda.io/thaw`.');
    expect(world.condition('gpu', 'Frozen')).toBe('none');
    expect(world.condition('gpu', 'Ready')).toContain('True');
    expect(annotationsOf(world)).toEqual([]);
    expect(world.condition('other', 'Frozen')).toContain('True PoolFrozen');
    expect([...world.life.store.view.freezes.all()].map(({ id }) => id)).toEqual([world.poolId('other')]);
  });

  it('does not end the freeze of the fleet: it is removed, and an event names the command for operators', async () => {
    const world = await openReady();
    await freeze(world, 'fleet');
    await world.clock.advance(10 * SECOND_MS);

    world.others.patch(aNamed('gpu'), ANNOTATED);
    await world.clock.advance(10 * SECOND_MS);

    expect(world.condition('gpu', 'Frozen')).toContain('True FleetFrozen');
    expect(annotationsOf(world)).toEqual([]);
    const events = world.fake.objects('events', 'default').filter(({ reason }) => reason === 'ThawRefused');
    expect(events.map(({ type, message }) => `${type} ${message}`)).toEqual([
      'Warning The fleet is frozen, not this pool alone. To thaw it, an operator must run `muster thaw`.',
    ]);
  });

  it('of a pool that is not frozen is removed and thaws no later freeze', async () => {
    const world = await openReady();

    world.others.patch(aNamed('gpu'), ANNOTATED);
    await world.clock.advance(10 * SECOND_MS);
    const left = annotationsOf(world);
    await freeze(world, world.poolId('gpu') ?? '');
    await world.clock.advance(MINUTE_MS);

    expect(left).toEqual([]);
    expect(world.condition('gpu', 'Frozen')).toContain('True PoolFrozen');
  });
});

describe('the events of an AgentPool', () => {
  const warningsOf = (world: KubeWorld) =>
    world.fake
      .objects('events', 'default')
      .filter(({ type }) => type === 'Warning')
      .map(({ reason, count, message }) => ({ reason, count, message }));

  it('warn once at each change to bad, and not again after a restart of the server', async () => {
    const world = await openReady();
    const mend = world.fake.failureRules.add({ ...CREATE_PODS, what: forbidden('pods "x" is forbidden: no') });
    world.others.patch(aNamed('gpu'), { spec: { autoscaler: { minReplicas: 5 } } });
    await world.clock.advance(5 * MINUTE_MS);
    await freeze(world, world.poolId('gpu') ?? '');
    world.others.patch(aNamed('gpu'), { spec: { autoscaler: { minReplicas: 9 } } });
    await world.clock.advance(MINUTE_MS);
    world.restart();
    await world.clock.advance(5 * MINUTE_MS);
    mend();

    const warnings = warningsOf(world);
    expect(warnings.map(({ reason, count }) => `${reason} ${count}`).toSorted()).toEqual([
      'Invalid 1',
      'PodsRefused 1',
      'PoolFrozen 1',
    ]);
    expect(warnings.find(({ reason }) => reason === 'PodsRefused')?.message).toContain('pods "x" is forbidden: no');
  });

  it('and its conditions speak the words of the object', async () => {
    const world = await openReady();
    await world.life.submit('gpu', 9, MINUTE_MS);
    await world.clock.advance(30 * SECOND_MS);
    const limited = world.condition('gpu', 'ScalingLimited');
    world.others.patch(aNamed('gpu'), { spec: { autoscaler: { minReplicas: 9 } } });
    await world.clock.advance(10 * SECOND_MS);

    expect(limited).toContain('the pool is at maxReplicas 5');
    expect(world.condition('gpu', 'Synced')).toContain('spec.autoscaler.minReplicas: is 9, above maxReplicas 5.');
    const shown = JSON.stringify([world.pool('gpu')?.status, world.fake.objects('events', 'default')]);
    expect(shown.match(/\b(?:min|max)_\w+|idle_decay|boot_timeout/g)).toBeNull();
  });
});
