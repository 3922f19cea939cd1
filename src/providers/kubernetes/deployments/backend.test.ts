import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Launch, Machine } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { CLUSTER, type KubeScene, openDeploymentsAt, openKubeScene, openPodsAt } from '../testing.ts';
import { machinesIn, objectsOf, reached } from './testing.ts';

const launchOf = (name: string): Launch => ({
  id: `launch-${name}`,
  mark: { cluster: CLUSTER, use: 'computer', owner: 'c-1', shape: 'aaaabbbbcccc' },
  names: [name],
  boot: { agentConfig: 'pool: dev\n', token: 'mlt_x', port: 8_000 },
  askedAt: 0,
});

const WHOLE = ['deployments.apps c-1', 'pods c-1', 'secrets c-1', 'services c-1'];

const listed = (scene: KubeScene, backend: Backend): Promise<readonly Machine[]> => scene.during(backend.list(going()));

async function only(scene: KubeScene, backend: Backend): Promise<Machine> {
  const [machine, ...others] = await listed(scene, backend);
  expect(others).toEqual([]);
  return machine as Machine;
}

/** A cluster with one machine that runs. */
async function withMachine(config: object = {}, options: Parameters<typeof openKubeScene>[0] = {}) {
  const scene = openKubeScene(options);
  const backend = await openDeploymentsAt(scene, CLUSTER, config);
  await scene.during(backend.create(launchOf('c-1'), going()));
  await scene.clock.advance(20_000);
  return { scene, backend, podName: () => scene.fake.objects('pods')[0]?.metadata.name ?? '' };
}

describe('a machine as a Deployment', () => {
  it('is four objects, which its end leaves nothing of', async () => {
    const { scene, backend } = await withMachine();
    const whole = objectsOf(scene.fake);
    const machine = await only(scene, backend);

    await scene.during(backend.delete([machine], going()));
    await scene.clock.advance(MINUTE_MS);

    expect(whole).toEqual(WHOLE);
    expect(machine).toMatchObject({ state: 'running', endpoints: [{ port: 8_000 }] });
    expect(machine.addresses).toHaveLength(1);
    expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
  });

  it('is listed until its load balancer is given back', async () => {
    const { scene, backend } = await withMachine(
      { serviceType: 'LoadBalancer' },
      { behaviour: { balancerMs: 15_000 } },
    );
    const machine = await only(scene, backend);
    const [balanced, inside] = machine.endpoints ?? [];

    await scene.during(backend.delete([machine], going()));
    await scene.clock.advance(10_000);
    const meanwhile = await only(scene, backend);
    await scene.clock.advance(10_000);

    expect(balanced?.host).toMatch(/^203\.0\./);
    expect(inside?.host).toMatch(/^10\.96\./);
    expect(reached(scene.fake, balanced ?? { host: '', port: 0 })).toBeUndefined();
    expect(meanwhile.state).toBe('deleting');
    expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
  });

  it('is no machine of the pods of the same cluster, and their pods are none of its', async () => {
    const { scene, backend } = await withMachine();
    const pods = await openPodsAt(scene);
    await scene.during(pods.create({ ...launchOf('m-1'), id: 'other' }, going()));
    await scene.clock.advance(5_000);

    expect((await listed(scene, pods)).map(({ name }) => name)).toEqual(['m-1']);
    expect((await only(scene, backend)).name).toBe('c-1');
    expect(backend.cloud).not.toBe(pods.cloud);
  });

  it('keeps its name, its id and its key with the pod that comes in place of an evicted one', async () => {
    const { scene, backend, podName } = await withMachine();
    const before = await only(scene, backend);
    const key = scene.fake.object('secrets', 'default', 'c-1')?.data;
    const evicted = podName();
    scene.fake.kubelet.evict('default', evicted, 'The node was low on resource: memory.');
    await scene.clock.advance(10_000);

    const after = await only(scene, backend);

    expect(after).toMatchObject({ name: before.name, id: before.id, state: 'running' });
    expect(after.trouble).toBeUndefined();
    expect(after.addresses).not.toEqual(before.addresses);
    expect(scene.fake.object('secrets', 'default', 'c-1')?.data).toEqual(key);
  });

  it('that others scale to nothing is stopped, and runs again when they let it', async () => {
    const { scene, backend } = await withMachine();
    const scale = (replicas: number) =>
      scene.kubectl('PATCH', '/apis/apps/v1/namespaces/default/deployments/c-1', { spec: { replicas } });

    await scale(0);
    await scene.clock.advance(MINUTE_MS);
    const stopped = await only(scene, backend);
    await scale(1);
    await scene.clock.advance(MINUTE_MS);

    expect(stopped.state).toBe('suspended');
    expect((await only(scene, backend)).state).toBe('running');
  });

  it('that others delete is gone with all its objects', async () => {
    const { scene, backend } = await withMachine();
    await scene.kubectl('DELETE', '/apis/apps/v1/namespaces/default/deployments/c-1');
    await scene.clock.advance(MINUTE_MS);

    expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
  });

  it('whose agent has come to its end waits between its starts, and says so', async () => {
    const { scene, backend } = await withMachine();
    scene.fake.kubelet.rules.add({ exits: { afterMs: 100, code: 0 } });
    scene.fake.kubelet.exit('default', scene.fake.objects('pods')[0]?.metadata.name ?? '', 0);
    await scene.clock.advance(MINUTE_MS);

    const machine = await only(scene, backend);

    expect(machine).toMatchObject({ state: 'creating', trouble: { reason: 'CrashLoopBackOff', final: false } });
    expect(machine.trouble?.message).toContain('last with exit code 0');
    await scene.during(backend.delete([machine], going()));
    await scene.clock.advance(MINUTE_MS);
    expect(objectsOf(scene.fake)).toEqual([]);
  });
});

describe('why a machine does not run', () => {
  it.each([
    ['its image cannot be pulled', { pullError: 'not found' }, 'invalid', 'cannot be pulled'],
    ['no node has room', { unschedulable: '0/3 nodes are available: 3 Insufficient cpu.' }, 'exhausted', 'no node has'],
  ])('is told where %s', async (_title, rule, kind, words) => {
    const scene = openKubeScene();
    const backend = await openDeploymentsAt(scene);
    scene.fake.kubelet.rules.add(rule);
    await scene.during(backend.create(launchOf('c-1'), going()));
    await scene.clock.advance(20_000);

    const machine = await only(scene, backend);

    expect(machine).toMatchObject({ state: 'creating', trouble: { kind, final: false } });
    expect(machine.trouble?.message).toContain(words);
    expect(backend.known?.('c-1')).toMatchObject({ state: 'creating', trouble: { kind } });
  });

  it.each([
    ['exceeded quota: pods, requested: pods=1', 'quota', 'Raise the ResourceQuota of namespace default'],
    [
      'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      'denied',
      'the standard restricted',
    ],
  ])('is told where its pod is refused: %s', async (refusal, kind, remedy) => {
    const scene = openKubeScene({ behaviour: { podRefusal: `pods "c-1-x" is forbidden: ${refusal}` } });
    const backend = await openDeploymentsAt(scene);
    await scene.during(backend.create(launchOf('c-1'), going()));
    await scene.clock.advance(5_000);
    const early = await only(scene, backend);
    await scene.clock.advance(2 * MINUTE_MS);
    const late = await only(scene, backend);

    expect(early).toMatchObject({ state: 'creating', trouble: { kind, reason: 'ReplicaFailure', final: false } });
    expect(early.trouble?.message).toContain(remedy);
    expect(late.trouble?.final).toBe(true);
  });
});

describe('a name that somebody else has', () => {
  it('is refused, and their Deployment stays as it is', async () => {
    const scene = openKubeScene();
    const metadata = { name: 'c-1', labels: { app: 'theirs' } };
    const spec = {
      selector: { matchLabels: { app: 'theirs' } },
      template: { metadata: { labels: { app: 'theirs' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    };
    await scene.kubectl('POST', '/apis/apps/v1/namespaces/default/deployments', { metadata, spec });
    const backend = await openDeploymentsAt(scene);

    const outcomes = await scene.during(backend.create(launchOf('c-1'), going()));

    expect(outcomes).toMatchObject([{ name: 'c-1', fault: { kind: 'denied' } }]);
    expect(scene.fake.object('deployments.apps', 'default', 'c-1')?.metadata).toMatchObject(metadata);
    expect(machinesIn(scene.fake)).toEqual([]);
  });
});

// Deployment, Secret, Service, and the end of the pause.
const WRITES = ['create deployments', 'create secrets', 'create services', 'patch deployments'];

describe.each(WRITES)('a creation during "%s"', (action) => {
  const refusals: readonly CallFailure[] = [
    { kind: 'error', status: 403, code: 'Forbidden', message: 'exceeded quota: few' },
    { kind: 'error', status: 422, code: 'Invalid', message: 'spec is not valid' },
  ];

  it.each(refusals)('that is refused leaves nothing: $message', async (what) => {
    const scene = openKubeScene();
    const backend = await openDeploymentsAt(scene);
    scene.fake.failureRules.add({ action, what });

    const [outcome] = await scene.during(backend.create(launchOf('c-1'), going()));
    await scene.clock.advance(MINUTE_MS);

    expect(outcome?.fault).toBeInstanceOf(Fault);
    expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
  });

  it.each(['lost reply', 'lost request', 'truncated reply'] as const)('with a %s comes to its end', async (kind) => {
    const scene = openKubeScene();
    const backend = await openDeploymentsAt(scene);
    scene.fake.failureRules.add({ action, what: { kind } });

    await scene.during(backend.create(launchOf('c-1'), going()).catch(() => []));
    await scene.clock.advance(20_000);

    expect(objectsOf(scene.fake)).toEqual(WHOLE);
    expect((await only(scene, backend)).state).toBe('running');
  });

  it.each([
    ['carried out', true],
    ['not carried out', false],
  ])('whose server dies, the call %s, is finished by a repeat', async (_title, done) => {
    const scene = await dies(action, done);
    const backend = await openDeploymentsAt(scene);

    const outcomes = await scene.during(backend.create(launchOf('c-1'), going()));
    await scene.clock.advance(20_000);

    expect(outcomes).toEqual([{ name: 'c-1' }]);
    expect(objectsOf(scene.fake)).toEqual(WHOLE);
    expect((await only(scene, backend)).state).toBe('running');
  });

  it.each([
    ['carried out', true],
    ['not carried out', false],
  ])(
    'whose server dies, the call %s, and is not repeated: what is there is listed, fails, and goes',
    async (_title, done) => {
      const scene = await dies(action, done);
      const backend = await openDeploymentsAt(scene);
      const early = await listed(scene, backend);
      await scene.clock.advance(4 * MINUTE_MS);
      const late = await listed(scene, backend);
      const isComplete = objectsOf(scene.fake).includes('pods c-1');

      expect(late.map(({ name }) => name)).toEqual(machinesIn(scene.fake));
      expect(early.map(({ name }) => name)).toEqual(isComplete ? ['c-1'] : []);
      if (!isComplete) expect(late.every(({ trouble }) => trouble?.final)).toBe(true);
      await scene.during(backend.delete(late, going()));
      await scene.clock.advance(MINUTE_MS);
      expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
    },
  );
});

/** A cluster in which a server died while it made a machine. */
async function dies(action: string, done: boolean): Promise<KubeScene> {
  const scene = openKubeScene();
  const backend = await openDeploymentsAt(scene);
  const stopping = new AbortController();
  scene.fake.failureRules.add({ action, what: { kind: 'hang', done } });
  const creating = backend.create(launchOf('c-1'), stopping.signal).catch((thrown) => Fault.from(thrown));
  await scene.clock.advance(1_000);
  stopping.abort();
  const ended = await scene.during(creating);
  expect(ended instanceof Fault && isUnclear(ended.kind)).toBe(true);
  return scene;
}

describe('a removal', () => {
  it.each(['lost reply', 'lost request'] as const)('with a %s is repeated until nothing is left', async (kind) => {
    const { scene, backend } = await withMachine();
    const machine = await only(scene, backend);
    scene.fake.failureRules.add({ action: 'delete deployments', what: { kind } });

    await scene.during(backend.delete([machine], going()).catch(() => []));
    const outcomes = await scene.during(backend.delete([machine], going()));
    await scene.clock.advance(MINUTE_MS);

    expect(outcomes).toEqual([{ name: 'c-1' }]);
    expect([objectsOf(scene.fake), await listed(scene, backend)]).toEqual([[], []]);
  });
});
