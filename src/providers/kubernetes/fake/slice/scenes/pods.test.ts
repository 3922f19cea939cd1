import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { AGENT_POD } from '../../../testing.ts';
import type { KubeObject } from '../../objects/object.ts';
import { aNamed, type KubeWorld, openKubeWorld, withBusyPool } from './testing.ts';

const podOf = (world: KubeWorld, name: string) => world.fake.object('pods', 'default', name);
const withSpec = (more: object) => ({ ...AGENT_POD, spec: { ...AGENT_POD.spec, ...more } });
const withTier = (tier: string) => ({ ...AGENT_POD, metadata: { labels: { app: 'velda-agent', tier } } });

describe('a pod template that is edited', () => {
  it('rolls idle pods at once, and busy ones when their session is over', async () => {
    const world = await openKubeWorld();
    await withBusyPool(world, 5 * MINUTE_MS);
    const before = world.pods('gpu');
    const imageOf = (name: string) =>
      (podOf(world, name)?.spec?.containers as { image?: string }[] | undefined)?.[0]?.image;

    const [container] = AGENT_POD.spec.containers;
    const containers = [{ ...container, image: 'veldaio/agent:2' }];
    world.others.patch(aNamed('gpu'), { spec: { template: { spec: { containers } } } });
    await world.clock.advance(2 * MINUTE_MS);
    const during = world.pods('gpu').map(imageOf);
    await world.clock.advance(5 * MINUTE_MS);

    expect(during.toSorted()).toEqual(['veldaio/agent:2', 'veldaio/agent:latest']);
    expect(world.pods('gpu').map(imageOf)).toEqual(['veldaio/agent:2']);
    expect(before.map((name) => podOf(world, name))).toEqual([undefined, undefined]);
    expect([...world.agents.runs.values()]).toEqual([1]);
    expect(world.agents.kills).toEqual([]);
  });
});

describe('a container that restarts under a running session', () => {
  const ACTOR = { who: 'test', from: 'here' };

  it.each([
    ['is lost', 0, 1],
    ['begins again once, where it may', 1, 2],
  ])('the session %s; it never hangs and the pod stays', async (_, retries, runs) => {
    const world = await openKubeWorld();
    world.apply('gpu');
    await world.clock.advance(MINUTE_MS);
    const [pod = ''] = world.pods('gpu');
    const command = ['work', '60000', '0', '0'];
    const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries };
    await world.life.sessions.submit([{ pool: 'gpu', spec }], ACTOR);
    await world.clock.advance(MINUTE_MS / 2);
    expect([...world.agents.runs.values()]).toEqual([1]);

    world.fake.kubelet.exit('default', pod, 137);
    await world.clock.advance(MINUTE_MS / 2);
    expect(world.pods('gpu')).toContain(pod);
    await world.clock.advance(10 * MINUTE_MS);

    expect([...world.agents.runs.values()]).toEqual([runs]);
    expect(world.life.store.view.sessions.size).toBe(0);
    expect(world.pods('gpu')).toHaveLength(1);
  });
});

describe('a pod that comes to its end', () => {
  const ENDS: readonly (readonly [how: string, end: (world: KubeWorld, pod: string) => void])[] = [
    ['is evicted', ({ fake }, pod) => fake.disruptions.evict('default', pod)],
    ['is preempted', ({ fake }, pod) => fake.disruptions.preempt('default', pod)],
    ['succeeds', ({ fake }, pod) => fake.kubelet.exit('default', pod, 0)],
    ['fails', ({ fake }, pod) => fake.kubelet.exit('default', pod, 1)],
    ['is deleted by hand', ({ others }, pod) => others.remove({ resource: 'pods', namespace: 'default', name: pod })],
  ];

  it.each(ENDS)('because it %s is replaced and removed', async (_, end) => {
    const world = await openKubeWorld();
    world.apply('gpu', { spec: { template: withSpec({ restartPolicy: 'Never' }) } });
    await world.clock.advance(MINUTE_MS);
    const [pod = ''] = world.pods('gpu');

    end(world, pod);
    await world.clock.advance(2 * MINUTE_MS);

    expect(world.pods('gpu')).toHaveLength(1);
    expect(world.pods('gpu')).not.toContain(pod);
    expect(podOf(world, pod)).toBeUndefined();
    expect(world.life.store.view.workers.size).toBe(1);
  });
});

describe('a pod whose container ends again and again', () => {
  it('is named with the last words of the container until its agent connects, without a change at each restart', async () => {
    const world = await openKubeWorld();
    const told: string[] = [];
    world.fake.world.store.watch(({ storage }) => {
      if (!storage.includes('agentpools')) return;
      const said = world.condition('gpu', 'BackendHealthy');
      if (said !== told.at(-1)) told.push(said);
    });
    const exits = { afterMs: 0, code: 2, message: "unknown option '--no-such-flag'" };
    const mend = world.fake.kubelet.rules.add({ exits });
    world.apply('gpu');
    await world.clock.advance(5 * MINUTE_MS);
    const during = world.condition('gpu', 'BackendHealthy');
    const changes = told.filter((said) => said.includes('no-such-flag')).length;
    const all = await world.life.store.history.events({}, { limit: 1_000, order: 'oldest first' });
    const events = all.filter(({ kind }) => kind === 'worker.trouble');

    mend();
    await world.clock.advance(10 * MINUTE_MS);

    expect(during).toContain('False');
    expect(during).toContain("exit code 2 (Error): unknown option '--no-such-flag'");
    expect(changes).toBe(1);
    expect(events).toMatchObject([{ message: expect.stringContaining('no-such-flag') }]);
    expect(world.condition('gpu', 'BackendHealthy')).toContain('True');
  });
});

describe('a pod that does not start', () => {
  it('for lack of room gives way to the next template after the scheduling timeout', async () => {
    const world = await openKubeWorld();
    const tierOf = (name: string) => podOf(world, name)?.metadata.labels?.tier;
    const isDear = ({ metadata }: KubeObject): boolean => metadata.labels?.tier === 'spot';
    world.fake.kubelet.rules.add({ when: isDear, unschedulable: '0/10 nodes are available: 10 Insufficient cpu.' });
    world.apply('gpu', { spec: { template: undefined, templates: [withTier('spot'), withTier('regular')] } });
    await world.clock.advance(MINUTE_MS);
    const waiting = { tiers: world.pods('gpu').map(tierOf), health: world.condition('gpu', 'BackendHealthy') };

    await world.clock.advance(3 * MINUTE_MS);

    expect(waiting.tiers).toEqual(['spot']);
    expect(waiting.health).toContain('10 Insufficient cpu.');
    expect(world.pods('gpu').map(tierOf)).toEqual(['regular']);
    expect(world.condition('gpu', 'Ready')).toContain('True');
  });

  it.each([
    ['its image cannot be pulled', { pullError: 'not found' }, {}, 'cannot be pulled'],
    ['a Secret is missing', { configError: 'secret "key" not found' }, {}, 'secret "key" not found'],
    [
      'a ConfigMap cannot be mounted',
      {},
      { volumes: [{ name: 'config', configMap: { name: 'velda-config' } }] },
      'configmap "velda-config" not found',
    ],
  ])('because %s: its object says so, until it does start', async (_, rule, spec, words) => {
    const world = await openKubeWorld();
    const mend = world.fake.kubelet.rules.add(rule);
    world.apply('gpu', { spec: { template: withSpec(spec) } });
    await world.clock.advance(2 * MINUTE_MS);
    const said = world.condition('gpu', 'BackendHealthy');
    const [pod] = world.pods('gpu');

    mend();
    const metadata = { name: 'velda-config', namespace: 'default' };
    world.others.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await world.clock.advance(2 * MINUTE_MS);

    expect(said).toMatch(/^False (Failing|ImagePullBackOff|CreateContainerConfigError): /);
    expect(said).toContain(words);
    expect(world.pods('gpu')).toEqual([pod]);
    expect(world.condition('gpu', 'BackendHealthy')).toContain('True');
    expect(world.condition('gpu', 'Ready')).toContain('True');
  });
});

it('leaves the objects and pods of others as they are, byte for byte', async () => {
  const world = await openKubeWorld();
  await world.cloud.addForeign('cluster1');
  world.others.create('configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'default' },
  });
  world.apply('theirs', { namespace: 'other' });
  await world.clock.advance(MINUTE_MS);
  const resources = ['pods', 'configmaps', 'namespaces', 'agentpools.velda.io', 'nodes'];
  const all = () =>
    resources.flatMap((resource) => world.fake.objects(resource)).map((object) => JSON.stringify(object));
  const before = all();

  await withBusyPool(world, MINUTE_MS);
  world.restart();
  await world.clock.advance(5 * MINUTE_MS);
  expect(all().length).toBeGreaterThan(before.length);
  world.others.remove(aNamed('gpu'));
  await world.clock.advance(HOUR_MS / 6);

  expect(all()).toEqual(before);
});
