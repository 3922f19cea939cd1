import { describe, expect, it } from 'vitest';
import type { Launch } from '#core/provider.ts';
import { podOf } from './pod.ts';

const LAUNCH: Launch = {
  id: 'l-1',
  mark: { cluster: 'c0ffee00', use: 'worker', owner: 'p0010001', shape: 'aaaabbbbcccc' },
  names: ['m-gpu-p0010001-abcdefgh00'],
  boot: { agentConfig: 'broker: {address: muster:50051}\n', token: 'mlt_secret' },
  askedAt: 0,
};
const NAME = 'm-gpu-p0010001-abcdefgh00';

const AGENT = { name: 'agent', image: 'veldaio/agent:latest', args: ['--pool=gpu'] };
const template = (agent: object = AGENT, more: object = {}, metadata: object = {}) => ({
  metadata: { labels: { app: 'velda-agent' }, ...metadata },
  spec: { containers: [{ name: 'sidecar', image: 'x' }, agent], ...more },
});

// biome-ignore lint/suspicious/noExplicitAny: a pod as the API server sees it.
const podWith = (given: object, passToken = false): any =>
  podOf(NAME, LAUNCH, { template: { ...given }, namespace: 'ml', passToken });
// biome-ignore lint/suspicious/noExplicitAny: the same.
const agentOf = (pod: any): any => pod.spec.containers.find(({ name }: { name: string }) => name === 'agent');

describe('the pod of a worker', () => {
  it("has the worker's name, the user's labels and ours, and no owner that deletion would follow", () => {
    const metadata = { name: 'x', generateName: 'x-', namespace: 'other', ownerReferences: [{ uid: 'u' }] };

    const pod = podWith(template(AGENT, {}, metadata));

    expect(pod).toMatchObject({ apiVersion: 'v1', kind: 'Pod', metadata: { name: NAME, namespace: 'ml' } });
    expect(pod.metadata.labels).toEqual({
      app: 'velda-agent',
      'muster.io/cluster': 'c0ffee00',
      'muster.io/use': 'worker',
      'muster.io/owner': 'p0010001',
      'muster.io/shape': 'aaaabbbbcccc',
    });
    expect(pod.metadata.generateName).toBeUndefined();
    expect(pod.metadata.ownerReferences).toBeUndefined();
  });

  it('cannot be handed to another pool by its template', () => {
    const pod = podWith(template(AGENT, {}, { labels: { 'muster.io/owner': 'another' } }));

    expect(pod.metadata.labels['muster.io/owner']).toBe('p0010001');
  });

  it('is left alone by cluster autoscalers, unless the template says otherwise', () => {
    const keep = 'cluster-autoscaler.kubernetes.io/safe-to-evict';

    expect(podWith(template()).metadata.annotations).toMatchObject({
      [keep]: 'false',
      'karpenter.sh/do-not-disrupt': 'true',
    });
    expect(podWith(template(AGENT, {}, { annotations: { [keep]: 'true' } })).metadata.annotations[keep]).toBe('true');
  });

  it('tells the agent its slots, also where the user mounts a file of their own, unless the template does', () => {
    const boot = { ...LAUNCH.boot, agentConfig: 'daemonConfig:\n  maxSessions: 3\n' };
    const mounted = { ...AGENT, volumeMounts: [{ name: 'config', mountPath: '/run/velda' }] };
    const slotsOf = (agent: object, launch: Launch) =>
      agentOf(podOf(NAME, launch, { template: template(agent), namespace: 'ml', passToken: false })).env.filter(
        ({ name }: { name: string }) => name === 'MUSTER_SLOTS',
      );

    expect(slotsOf(mounted, { ...LAUNCH, boot })).toEqual([{ name: 'MUSTER_SLOTS', value: '3' }]);
    expect(slotsOf({ ...mounted, env: [{ name: 'MUSTER_SLOTS', value: '5' }] }, { ...LAUNCH, boot })).toEqual([
      { name: 'MUSTER_SLOTS', value: '5' },
    ]);
    expect(slotsOf(mounted, LAUNCH)).toEqual([]);
  });

  it('shows the end of the log of an agent that crashed, unless the template says otherwise', () => {
    const policy = 'terminationMessagePolicy';

    expect(agentOf(podWith(template()))[policy]).toBe('FallbackToLogsOnError');
    expect(agentOf(podWith(template({ ...AGENT, [policy]: 'File' })))[policy]).toBe('File');
  });

  it('keeps the work directory of the agent over a restart of its container', () => {
    const pod = podWith(template());

    expect(pod.spec.volumes).toContainEqual({ name: 'muster-work', emptyDir: {} });
    expect(agentOf(pod).volumeMounts).toContainEqual({ name: 'muster-work', mountPath: '/tmp/agent' });
    expect(pod.spec.containers[0]).toEqual({ name: 'sidecar', image: 'x' });
  });

  it("mounts nothing over the user's own volumes", () => {
    const volumeMounts = [
      { name: 'scratch', mountPath: '/tmp/' },
      { name: 'velda-config', mountPath: '/run/velda' },
    ];
    const volumes = [{ name: 'velda-config', configMap: { name: 'velda-config' } }];

    const pod = podWith(template({ ...AGENT, volumeMounts }, { volumes }));

    expect(agentOf(pod).volumeMounts).toEqual(volumeMounts);
    expect(pod.spec.volumes).toEqual(volumes);
    expect(pod.metadata.annotations['muster.io/agent-config']).toBeUndefined();
  });

  it("brings the agent's file where the template mounts none", () => {
    const pod = podWith(template());

    expect(pod.metadata.annotations['muster.io/agent-config']).toBe(LAUNCH.boot.agentConfig);
    expect(agentOf(pod).volumeMounts).toContainEqual({
      name: 'muster-agent',
      mountPath: '/run/velda',
      readOnly: true,
    });
  });

  it('tells the agent its name, and its token only where it needs one', () => {
    const named = { name: 'AGENT_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };

    expect(agentOf(podWith(template())).env).toEqual([named]);
    expect(agentOf(podWith(template(), true)).env).toEqual([named, { name: 'MUSTER_JOIN_TOKEN', value: 'mlt_secret' }]);
    const own = { name: 'AGENT_NAME', value: 'mine' };
    expect(agentOf(podWith(template({ ...AGENT, env: [own] }))).env).toEqual([own]);
  });

  it('takes the first container for the agent where none has that name', () => {
    const pod = podWith({ metadata: {}, spec: { containers: [{ name: 'main' }, { name: 'proxy' }] } });

    expect(pod.spec.containers[0].env).toHaveLength(1);
    expect(pod.spec.containers[1].env).toBeUndefined();
  });

  it('is refused without a container', () => {
    expect(() => podWith({ spec: {} })).toThrow('The pod template has no container.');
  });
});
