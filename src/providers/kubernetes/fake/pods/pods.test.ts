import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { aConfigMap, aPod, CONFIG_MAPS, openScene, PODS, type Scene } from '../testing.ts';
import { conditionOf, statusesOf } from './status.ts';

const podOf = ({ fake }: Scene, name = 'p'): KubeObject | undefined => fake.object('pods', 'default', name);
const phase = (scene: Scene, name = 'p'): unknown => podOf(scene, name)?.status?.phase;
const waiting = (scene: Scene): unknown =>
  (statusesOf(podOf(scene) as KubeObject)[0]?.state as { waiting?: unknown } | undefined)?.waiting;
const eventsOf = ({ fake }: Scene, reason: string): readonly KubeObject[] =>
  fake.objects('events').filter((event) => event.reason === reason);

describe('a pod', () => {
  test('is placed, started and ready', async () => {
    const scene = openScene();
    await scene.post(PODS, aPod('p'));
    const seen = await scene.watch(`${PODS}?watch=1`);

    await scene.clock.advance(5_000);

    const phases = seen.events.map(({ object }) => object.status?.phase);
    expect([...new Set(phases)]).toEqual(['Pending', 'Running']);
    expect(podOf(scene)).toMatchObject({
      spec: { nodeName: 'node-1', restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
      status: {
        podIP: '10.244.0.3',
        hostIP: '10.0.0.2',
        qosClass: 'BestEffort',
        containerStatuses: [{ name: 'agent', ready: true, restartCount: 0, state: { running: {} } }],
      },
    });
    for (const type of ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']) {
      expect(conditionOf(podOf(scene) as KubeObject, type)).toMatchObject({ status: 'True' });
    }
    expect(eventsOf(scene, 'Scheduled')).toMatchObject([{ message: 'Successfully assigned default/p to node-1' }]);
  });

  test('that fits nowhere waits with the words of the scheduler, until there is room', async () => {
    const scene = openScene();
    const resources = { limits: { 'nvidia.com/gpu': '1' } };
    await scene.post(PODS, aPod('p', { containers: [{ name: 'agent', image: 'a', resources }] }));

    await scene.clock.advance(5_000);
    const message =
      '0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.';
    expect(phase(scene)).toBe('Pending');
    expect(conditionOf(podOf(scene) as KubeObject, 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message,
    });
    expect(eventsOf(scene, 'FailedScheduling')).toMatchObject([{ message, type: 'Warning' }]);

    scene.fake.nodes.add({ name: 'gpu-1', allocatable: { 'nvidia.com/gpu': '1' } });
    await scene.clock.advance(5_000);
    expect(podOf(scene)).toMatchObject({ spec: { nodeName: 'gpu-1' }, status: { phase: 'Running' } });
  });

  test('takes the room of one that goes', async () => {
    const room = { cpu: '4', memory: '8Gi', pods: '110' };
    const scene = openScene({ nodes: [{ name: 'n', allocatable: room }] });
    const spec = { containers: [{ name: 'agent', image: 'a', resources: { requests: { cpu: '3' } } }] };
    await scene.post(PODS, aPod('first', spec));
    await scene.post(PODS, aPod('second', spec));
    await scene.clock.advance(5_000);
    expect([phase(scene, 'first'), phase(scene, 'second')]).toEqual(['Running', 'Pending']);

    await scene.remove(`${PODS}/first`);
    await scene.clock.advance(5_000);

    expect(phase(scene, 'second')).toBe('Running');
  });

  test('waits for its ConfigMap, and says which', async () => {
    const scene = openScene();
    const volumes = [{ name: 'velda-config', configMap: { name: 'velda-config' } }];
    await scene.post(PODS, aPod('p', { volumes }));

    await scene.clock.advance(60_000);
    expect(waiting(scene)).toEqual({ reason: 'ContainerCreating' });
    const [event] = eventsOf(scene, 'FailedMount');
    expect(event).toMatchObject({
      message: 'MountVolume.SetUp failed for volume "velda-config" : configmap "velda-config" not found',
    });
    expect(Number(event?.count)).toBeGreaterThan(2);

    await scene.post(CONFIG_MAPS, aConfigMap('velda-config', { 'velda.yaml': '' }));
    await scene.clock.advance(30_000);
    expect(phase(scene)).toBe('Running');
  });

  test('whose image cannot be pulled backs off, and starts once it can', async () => {
    const scene = openScene();
    const mend = scene.fake.kubelet.rules.add({ pullError: 'not found' });
    await scene.post(PODS, aPod('p'));

    await scene.clock.advance(60_000);
    expect(waiting(scene)).toMatchObject({
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "velda/agent:1": ErrImagePull: not found',
    });
    mend();
    await scene.clock.advance(60_000);
    expect(phase(scene)).toBe('Running');
  });

  test('whose environment names a missing key cannot be made', async () => {
    const scene = openScene();
    const env = [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }];
    await scene.post(CONFIG_MAPS, aConfigMap('c'));
    await scene.post(PODS, aPod('p', { containers: [{ name: 'agent', image: 'a', env }] }));

    await scene.clock.advance(5_000);

    expect(waiting(scene)).toEqual({
      reason: 'CreateContainerConfigError',
      message: "couldn't find key k in ConfigMap default/c",
    });
  });

  test('is started again in place when its container ends, with a growing pause', async () => {
    const scene = openScene();
    await scene.post(PODS, aPod('p'));
    await scene.clock.advance(5_000);

    scene.fake.kubelet.exit('default', 'p', 137);
    await scene.clock.advance(100);
    expect(podOf(scene)?.status?.containerStatuses).toMatchObject([
      { restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode: 137, reason: 'Error' } } },
    ]);
    scene.fake.kubelet.exit('default', 'p', 1);
    await scene.clock.advance(100);
    expect(waiting(scene)).toMatchObject({ reason: 'CrashLoopBackOff' });
    await scene.clock.advance(10_000);
    expect(podOf(scene)?.status?.containerStatuses).toMatchObject([{ restartCount: 2, ready: true }]);
  });

  test.each([
    [0, 'Succeeded'],
    [3, 'Failed'],
  ])('that is not to be restarted ends with code %i as %s', async (code, expected) => {
    const scene = openScene();
    scene.fake.kubelet.rules.add({ exits: { afterMs: 2_000, code } });
    await scene.post(PODS, aPod('p', { restartPolicy: 'Never' }));

    await scene.clock.advance(10_000);

    expect(phase(scene)).toBe(expected);
  });

  test('that is deleted has its grace, and then is gone', async () => {
    const scene = openScene();
    scene.fake.kubelet.rules.add({ stopMs: Number.POSITIVE_INFINITY });
    await scene.post(PODS, aPod('p'));
    await scene.clock.advance(5_000);

    const { body } = await scene.remove(`${PODS}/p`, { gracePeriodSeconds: 10 });
    expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 10, deletionTimestamp: '2026-01-01T00:00:15Z' });
    await scene.clock.advance(9_000);
    expect(phase(scene)).toBe('Running');
    await scene.clock.advance(2_000);

    expect(podOf(scene)).toBeUndefined();
  });

  test('that was never placed goes at once, and so does one without grace', async () => {
    const scene = openScene();
    scene.fake.kubelet.rules.add({ when: ({ metadata }) => metadata.name === 'p', unschedulable: 'no' });
    await scene.post(PODS, aPod('p'));
    await scene.post(PODS, aPod('q'));
    await scene.clock.advance(5_000);

    await scene.remove(`${PODS}/p`);
    await scene.remove(`${PODS}/q?gracePeriodSeconds=0`);

    expect(scene.fake.objects('pods')).toEqual([]);
  });
});

describe('the API server refuses a pod', () => {
  const invalid = async (spec: object): Promise<unknown> => {
    const { post } = openScene();
    const { body } = await post(PODS, aPod('p', spec));
    return body.message;
  };

  test.each([
    [{ containers: [] }, 'Pod "p" is invalid: spec.containers: Required value'],
    [{ containers: [{ name: 'a' }] }, 'Pod "p" is invalid: spec.containers[0].image: Required value'],
    [
      { containers: [{ name: 'a', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
      'Pod "p" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "v"',
    ],
    [
      { restartPolicy: 'Often' },
      'Pod "p" is invalid: spec.restartPolicy: Unsupported value: "Often": supported values: "Always", "OnFailure", "Never"',
    ],
  ])('of %j', async (spec, message) => {
    expect(await invalid(spec)).toBe(message);
  });

  test('whose specification changes', async () => {
    const { post, patch } = openScene();
    await post(PODS, aPod('p'));

    const { body } = await patch(`${PODS}/p`, { spec: { hostname: 'x' } });

    expect(body).toMatchObject({ code: 422 });
    expect(body.message).toContain('pod updates may not change fields other than');
  });
});
