import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { conditionOf } from '../pods/status.ts';
import { openScene, type Scene } from '../testing.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const SERVICES = '/api/v1/namespaces/default/services';

const aDeployment = (name: string, podSpec: object = {}, replicas = 1): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { machine: name } },
    template: {
      metadata: { labels: { machine: name } },
      spec: { containers: [{ name: 'agent', image: 'velda/agent:1' }], ...podSpec },
    },
  },
});

const podsOf = ({ fake }: Scene): readonly KubeObject[] => fake.objects('pods', 'default');
const deploymentOf = ({ fake }: Scene, name = 'a'): KubeObject | undefined =>
  fake.object('deployments.apps', 'default', name);

async function withDeployment(podSpec: object = {}): Promise<Scene> {
  const scene = openScene();
  await scene.post(DEPLOYMENTS, aDeployment('a', podSpec));
  await scene.clock.advance(5_000);
  return scene;
}

describe('a Deployment', () => {
  test('has a pod of its own, and is available when that is ready', async () => {
    const scene = await withDeployment();

    expect(podsOf(scene)).toMatchObject([{ status: { phase: 'Running' } }]);
    expect(podsOf(scene)[0]?.metadata.name).toMatch(/^a-[0-9a-z]+-[0-9a-z]{5}$/);
    expect(deploymentOf(scene)?.status).toMatchObject({ replicas: 1, availableReplicas: 1 });
    expect(conditionOf(deploymentOf(scene) as KubeObject, 'Available')).toMatchObject({ status: 'True' });
  });

  test('starts a container again that has ended, in the same pod', async () => {
    const scene = await withDeployment();
    const [before] = podsOf(scene);

    scene.fake.kubelet.exit('default', before?.metadata.name ?? '', 0);
    await scene.clock.advance(1_000);

    expect(podsOf(scene).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
    expect(podsOf(scene)[0]?.status?.containerStatuses).toMatchObject([{ restartCount: 1, ready: true }]);
  });

  test('gets another pod in place of one that was evicted', async () => {
    const scene = await withDeployment();
    const [before] = podsOf(scene);

    scene.fake.kubelet.evict('default', before?.metadata.name ?? '', 'The node was low on resource: memory.');
    await scene.clock.advance(5_000);

    const phases = podsOf(scene).map(({ status }) => status?.phase);
    expect(phases.toSorted()).toEqual(['Failed', 'Running']);
    expect(deploymentOf(scene)?.status).toMatchObject({ replicas: 1, availableReplicas: 1 });
  });

  test('with another template removes its pod before it makes the next', async () => {
    const scene = await withDeployment();
    const seen = await scene.watch('/api/v1/namespaces/default/pods?watch=1&resourceVersion=');
    await scene.clock.settle();
    const [before] = podsOf(scene);
    seen.events.length = 0;

    await scene.apply(`${DEPLOYMENTS}/a`, aDeployment('a', { nodeSelector: {} }), 'tester', '&force=true');
    await scene.clock.advance(5_000);

    const kinds = seen.events.map(({ type, object }) => `${type} ${object.metadata.uid === before?.metadata.uid}`);
    expect(kinds.indexOf('DELETED true')).toBeGreaterThan(-1);
    expect(kinds.indexOf('DELETED true')).toBeLessThan(kinds.indexOf('ADDED false'));
    expect(podsOf(scene)).toHaveLength(1);
  });

  test('says why it gets no pod, and gets one when it may', async () => {
    const scene = openScene();
    const message = 'pods "a-1" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5';
    scene.fake.behaviour.podRefusal = message;
    await scene.post(DEPLOYMENTS, aDeployment('a'));
    await scene.clock.advance(5_000);
    const refused = conditionOf(deploymentOf(scene) as KubeObject, 'ReplicaFailure');
    scene.fake.behaviour.podRefusal = undefined;
    await scene.clock.advance(30_000);

    expect(refused).toMatchObject({ status: 'True', reason: 'FailedCreate', message });
    expect(conditionOf(deploymentOf(scene) as KubeObject, 'ReplicaFailure')).toBeUndefined();
    expect(podsOf(scene)).toHaveLength(1);
  });

  test('that begins paused gets its pod when the pause ends', async () => {
    const scene = openScene();
    const { spec, ...rest } = aDeployment('a') as { spec: object };
    await scene.post(DEPLOYMENTS, { ...rest, spec: { ...spec, paused: true } });
    await scene.clock.advance(5_000);
    const before = podsOf(scene).length;
    await scene.patch(`${DEPLOYMENTS}/a`, { spec: { paused: false } });
    await scene.clock.advance(5_000);

    expect([before, podsOf(scene).length]).toEqual([0, 1]);
  });

  test('that is deleted in the foreground stays until its pod has ended', async () => {
    const scene = await withDeployment();
    const [pod] = podsOf(scene);
    scene.fake.kubelet.rules.add({ stopMs: 10_000 });

    await scene.remove(`${DEPLOYMENTS}/a?propagationPolicy=Foreground`);
    await scene.clock.advance(5_000);
    const meanwhile = [deploymentOf(scene)?.metadata.deletionTimestamp, podsOf(scene)[0]?.metadata.uid];
    await scene.clock.advance(10_000);

    expect(meanwhile).toEqual([expect.any(String), pod?.metadata.uid]);
    expect([deploymentOf(scene), podsOf(scene)]).toEqual([undefined, []]);
  });

  test.each([
    ['a deadline', { activeDeadlineSeconds: 60 }, 'activeDeadlineSeconds in ReplicaSet is not Supported'],
    ['another restart policy', { restartPolicy: 'Never' }, 'supported values: \\"Always\\"'],
  ])('whose template has %s is refused', async (_what, podSpec, words) => {
    const { status, body } = await openScene().post(DEPLOYMENTS, aDeployment('a', podSpec));

    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(words);
  });
});

test('what is made for an owner that has gone meanwhile is collected', async () => {
  const scene = openScene();
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a', uid: 'gone' };
  await scene.post(SERVICES, { metadata: { name: 'a', ownerReferences: [owner] }, spec: { ports: [{ port: 80 }] } });

  await scene.clock.advance(1_000);

  expect(scene.fake.objects('services')).toEqual([]);
});

describe('a Service', () => {
  const aService = (type: string): object => ({ metadata: { name: 's' }, spec: { type, ports: [{ port: 8000 }] } });
  const serviceOf = ({ fake }: Scene): KubeObject | undefined => fake.object('services', 'default', 's');

  test('of type NodePort has a port on every node, which stays when it is changed', async () => {
    const scene = openScene();
    const { body } = await scene.post(SERVICES, aService('NodePort'));
    await scene.patch(`${SERVICES}/s`, { spec: { ports: [{ port: 8000 }] } });

    const [port] = (body.spec?.ports ?? []) as { nodePort: number }[];
    expect(port?.nodePort).toBeGreaterThanOrEqual(30_000);
    expect(serviceOf(scene)?.spec?.ports).toMatchObject([{ port: 8000, nodePort: port?.nodePort }]);
  });

  test('of type LoadBalancer has an address after a while, and goes when that is given back', async () => {
    const scene = openScene();
    await scene.post(SERVICES, aService('LoadBalancer'));
    const at = [serviceOf(scene)?.status];
    await scene.clock.advance(10_000);
    at.push(serviceOf(scene)?.status);
    await scene.remove(`${SERVICES}/s`);
    await scene.clock.advance(1_000);
    const going = serviceOf(scene)?.metadata.deletionTimestamp;
    await scene.clock.advance(10_000);

    expect(at).toEqual([undefined, { loadBalancer: { ingress: [{ ip: '203.0.0.2' }] } }]);
    expect([going, serviceOf(scene)]).toEqual([expect.any(String), undefined]);
  });
});
