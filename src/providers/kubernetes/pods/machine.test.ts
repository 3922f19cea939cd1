import { describe, expect, it } from 'vitest';
import { keptOfPod, machineOf, type Pod } from './machine.ts';

const NOW = Date.UTC(2026, 0, 2);
const LABELS = {
  'muster.io/cluster': 'c1',
  'muster.io/use': 'worker',
  'muster.io/owner': 'p1',
  'muster.io/shape': 'aaaabbbbcccc',
};

function aPod(status: object, { ageMs = 1_000, metadata = {}, spec = {} } = {}): Pod {
  return {
    metadata: {
      name: 'm-1',
      namespace: 'ml',
      uid: 'u-1',
      labels: LABELS,
      creationTimestamp: new Date(NOW - ageMs).toISOString(),
      annotations: { large: 'x' },
      ...metadata,
    },
    spec,
    status,
  } as Pod;
}

const read = (pod: Pod, found?: Parameters<typeof machineOf>[1]['found']) =>
  machineOf(keptOfPod(pod), {
    waitedMs: NOW - Date.parse(pod.metadata.creationTimestamp ?? ''),
    schedulingTimeoutMs: 120_000,
    found,
  });

describe('a pod as a machine', () => {
  it('has its name, mark, uid and time of creation', () => {
    expect(read(aPod({ phase: 'Pending' }))).toEqual({
      name: 'm-1',
      mark: { cluster: 'c1', use: 'worker', owner: 'p1', shape: 'aaaabbbbcccc' },
      id: 'u-1',
      createdAt: NOW - 1_000,
      state: 'creating',
    });
  });

  it.each([
    [{ phase: 'Pending' }, {}, 'creating'],
    [{ phase: 'Running' }, {}, 'running'],
    [{ phase: 'Unknown' }, {}, 'creating'],
    [{ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'deleting'],
    [{ phase: 'Succeeded' }, {}, 'failed'],
    [{ phase: 'Failed' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'failed'],
  ])('that is %j with %j is %s', (status, metadata, state) => {
    expect(read(aPod(status, { metadata })).state).toBe(state);
  });

  it('has no mark where one of its labels is missing', () => {
    expect(read(aPod({}, { metadata: { labels: { ...LABELS, 'muster.io/use': 'other' } } })).mark).toBeUndefined();
  });

  it('has the addresses of the pod, but none on the network of its host', () => {
    const status = { phase: 'Running', podIP: '10.1.0.4', podIPs: [{ ip: '10.1.0.4' }, { ip: 'fd00::4' }] };

    expect(read(aPod(status)).addresses).toEqual(['10.1.0.4', 'fd00::4']);
    expect(read(aPod({ phase: 'Running', podIP: '10.1.0.4' })).addresses).toEqual(['10.1.0.4']);
    expect(read(aPod(status, { spec: { hostNetwork: true } })).addresses).toBeUndefined();
  });
});

describe('the trouble of a pod', () => {
  const unschedulable = {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.',
      },
    ],
  };
  const waiting = (reason: string, message?: string) => ({
    phase: 'Pending',
    containerStatuses: [{ name: 'agent', image: 'veldaio/agent:9', state: { waiting: { reason, message } } }],
  });

  it("is lack of capacity in the scheduler's own words, which ends the wait after a while", () => {
    const message = 'no node has room: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.';

    expect(read(aPod(unschedulable)).trouble).toMatchObject({ kind: 'exhausted', message, final: false });
    expect(read(aPod(unschedulable, { ageMs: 120_000 })).trouble).toMatchObject({
      kind: 'exhausted',
      message,
      final: true,
    });
  });

  it.each([
    ['ImagePullBackOff', 'image veldaio/agent:9 of container agent cannot be pulled: told so.', 'invalid'],
    ['CreateContainerConfigError', 'container agent cannot be created: told so.', 'invalid'],
  ])('%s is named with its remedy', (reason, said, kind) => {
    const { trouble } = read(aPod(waiting(reason, 'told so')));

    expect(trouble).toMatchObject({ kind, final: false });
    expect(trouble?.message.startsWith(said)).toBe(true);
    expect(trouble?.message).toMatch(/(Check|See) /);
  });

  describe('whose container ends again and again', () => {
    const ended = { terminated: { reason: 'Error', exitCode: 2, message: 'unknown option\n --no-such-flag' } };
    const crashed = (state: object, restartCount: number, lastState: object = ended) => ({
      phase: 'Running',
      containerStatuses: [{ name: 'agent', image: 'veldaio/agent:9', restartCount, state, lastState }],
    });
    const trouble = {
      kind: 'unavailable',
      reason: 'CrashLoopBackOff',
      message:
        'container agent ends again and again, last with exit code 2 (Error): unknown option --no-such-flag. See `kubectl logs --previous`.',
      final: false,
    };

    it.each([
      ['waits for its next start', crashed({ waiting: { reason: 'CrashLoopBackOff' } }, 3)],
      ['has just ended once more', crashed(ended, 1)],
      ['runs for a moment between two ends', crashed({ running: {} }, 2)],
      [
        'is one of those that run before the others',
        {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'agent', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended },
          ],
        },
      ],
    ])('is its last end, the same each time, while the container %s', (_, status) => {
      expect(read(aPod(status)).trouble).toEqual(trouble);
    });

    it.each([
      ['ended for the first time', crashed(ended, 0, {})],
      ['was started anew once', crashed({ running: {} }, 1)],
    ])('is none yet where the container %s', (_, status) => {
      expect(read(aPod(status))).toMatchObject({ state: 'running' });
      expect(read(aPod(status)).trouble).toBeUndefined();
    });

    it('is told without a message where the container left none, and with the end of a long one', () => {
      const silent = { terminated: { reason: 'OOMKilled', exitCode: 137 } };
      const long = { terminated: { reason: 'Error', exitCode: 1, message: `${'x'.repeat(3_000)} the end` } };
      const waitingFor = (lastState: object) => crashed({ waiting: { reason: 'CrashLoopBackOff' } }, 3, lastState);

      expect(read(aPod(waitingFor(silent))).trouble?.message).toBe(
        'container agent ends again and again, last with exit code 137 (OOMKilled). See `kubectl logs --previous`.',
      );
      expect(read(aPod(waitingFor(long))).trouble?.message).toMatch(/: …x{10,500} the end\. See/);
    });
  });

  it('is what its events say where the pod itself shows nothing, until it runs', () => {
    const found = { kind: 'invalid', message: 'FailedMount', final: false } as const;

    expect(read(aPod(waiting('ContainerCreating')), found).trouble).toBe(found);
    expect(read(aPod(unschedulable), found).trouble?.kind).toBe('exhausted');
    expect(read(aPod({ phase: 'Running' }), found).trouble).toBeUndefined();
  });

  it('at its end is the reason of the end: evicted, preempted and refused pods lacked room', () => {
    const evicted = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' };
    const preempted = {
      phase: 'Failed',
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message: 'preempted' }],
    };
    const ended = {
      phase: 'Failed',
      containerStatuses: [{ name: 'agent', state: { terminated: { reason: 'Error', exitCode: 7 } } }],
    };

    expect(read(aPod(evicted)).trouble).toEqual({
      kind: 'exhausted',
      message: 'Evicted: The node was low on resource: memory.',
      final: true,
    });
    const refused = { phase: 'Failed', reason: 'OutOfcpu', message: "Pod was rejected: Node didn't have enough cpu" };
    expect(read(aPod(refused)).trouble).toMatchObject({ kind: 'exhausted', final: true });
    expect(read(aPod({ phase: 'Failed', reason: 'DeadlineExceeded' })).trouble).toMatchObject({ kind: 'unavailable' });
    expect(read(aPod(preempted)).trouble).toMatchObject({ kind: 'exhausted', final: true });
    expect(read(aPod(ended)).trouble?.message).toBe('its container ended with exit code 7 (Error)');
  });
});
