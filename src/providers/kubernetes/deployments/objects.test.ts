import { describe, expect, it } from 'vitest';
import type { Launch } from '#core/provider.ts';
import { DeploymentConfig } from './config.ts';
import { deploymentOf, secretOf, serviceOf, templateOf } from './objects.ts';

const LAUNCH: Launch = {
  id: 'l-1',
  mark: { cluster: 'cluster1', use: 'computer', owner: 'c-1', shape: 's-1' },
  names: ['c-dev-1'],
  boot: { agentConfig: 'pool: dev\n', token: 'mlt_once', port: 8_000 },
  askedAt: 0,
};
const NAME = 'c-dev-1';
const KEY = 'ab'.repeat(32);

interface Whole {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object; readonly annotations: object };
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly (Readonly<Record<string, unknown>> & { readonly volumeMounts: object[] })[];
      };
    };
  };
}

function objectsOf(given: object = { image: 'muster/agent:1' }, name = NAME) {
  const config = DeploymentConfig.parse(given);
  const deployment = deploymentOf(name, LAUNCH, { template: templateOf(config), namespace: 'lab' });
  const owner = { ...deployment, metadata: { ...deployment.metadata, uid: 'u-1' } };
  const whole = deployment as unknown as Whole;
  return {
    deployment,
    pod: whole.spec.template,
    spec: whole.spec,
    secret: secretOf(LAUNCH, owner, KEY),
    service: serviceOf(LAUNCH, owner, config),
  };
}

describe('the objects of a machine', () => {
  it('hold token and key in the Secret alone', () => {
    const { deployment, secret, service } = objectsOf();

    expect(secret.stringData).toEqual({
      'velda.yaml': expect.stringContaining('joinToken: mlt_once'),
      'agent.key': `${KEY}\n`,
    });
    expect((secret.stringData as Record<string, string>)['velda.yaml']).toContain(`agentName: ${NAME}`);
    for (const object of [deployment, service]) expect(JSON.stringify(object)).not.toMatch(/mlt_once|abab/);
  });

  it('go with the Deployment, which waits for them', () => {
    const { secret, service } = objectsOf();
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: NAME, uid: 'u-1' };

    for (const object of [secret, service])
      expect(object?.metadata.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
  });

  it('lead to the pod of this machine alone', () => {
    const [one, other] = [objectsOf(), objectsOf({ image: 'muster/agent:1' }, 'c-dev-2')];

    expect(one.pod.metadata.labels).toEqual(one.spec.selector.matchLabels);
    expect(one.spec.selector.matchLabels).not.toEqual(other.spec.selector.matchLabels);
    expect(one.service?.spec).toMatchObject({ selector: one.spec.selector.matchLabels });
  });

  it('have no Service and no probe without a port', () => {
    const launch = { ...LAUNCH, boot: { agentConfig: '', token: '' } };
    const config = DeploymentConfig.parse({ image: 'a' });
    const deployment = deploymentOf(NAME, launch, { template: templateOf(config), namespace: 'lab' });

    expect(serviceOf(launch, deployment, config)).toBeUndefined();
    expect(JSON.stringify(deployment)).not.toContain('readinessProbe');
  });

  it('have a Service within the cluster, unless a load balancer is asked for', () => {
    const annotations = { 'networking.gke.io/load-balancer-type': 'Internal' };
    const balanced = objectsOf({ image: 'a', serviceType: 'LoadBalancer', serviceAnnotations: annotations });

    expect(objectsOf().service?.spec).toMatchObject({ type: 'ClusterIP', ports: [{ port: 8_000, targetPort: 8_000 }] });
    expect(balanced.service?.spec).toMatchObject({ type: 'LoadBalancer' });
    expect(balanced.service?.metadata.annotations).toMatchObject(annotations);
  });
});

describe('the pod of a machine', () => {
  it('has no account, no variables of Services, its probe, and the name of the machine', () => {
    const { spec } = objectsOf().pod;

    expect(spec).toMatchObject({ hostname: NAME, automountServiceAccountToken: false, enableServiceLinks: false });
    expect(spec.containers[0]).toMatchObject({
      image: 'muster/agent:1',
      env: [],
      ports: [{ containerPort: 8_000 }],
      readinessProbe: { httpGet: { path: '/health', port: 8_000 } },
    });
    expect(spec.containers[0]).not.toHaveProperty('livenessProbe');
  });

  it('finds the key of its agent on every new disk', () => {
    const [agent] = objectsOf().pod.spec.containers;

    expect(agent?.volumeMounts).toContainEqual({
      name: 'muster-agent',
      mountPath: '/tmp/agent/agent.key',
      subPath: 'agent.key',
      readOnly: true,
    });
  });

  it('keeps what the template says, whose own labels name no other machine', () => {
    const template = {
      metadata: { name: 'mine', labels: { app: 'lab', 'muster.io/machine': 'c-other' }, annotations: { a: 'b' } },
      spec: {
        automountServiceAccountToken: true,
        nodeSelector: { disk: 'fast' },
        containers: [
          { name: 'proxy', image: 'proxy' },
          { name: 'agent', image: 'old', env: [{ name: 'A', value: '1' }] },
        ],
      },
    };
    const { deployment, pod } = objectsOf({ template, image: 'new' });

    expect(deployment.metadata.name).toBe(NAME);
    expect(pod.metadata.labels).toEqual({ app: 'lab', 'muster.io/cluster': 'cluster1', 'muster.io/machine': NAME });
    expect(pod.metadata.annotations).toMatchObject({ a: 'b', 'karpenter.sh/do-not-disrupt': 'true' });
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: true, nodeSelector: { disk: 'fast' } });
    expect(pod.spec.containers.map(({ image }) => image)).toEqual(['proxy', 'new']);
    expect(pod.spec.containers[1]?.env).toEqual([{ name: 'A', value: '1' }]);
  });

  it('is no pod of a template that takes the place of the agent’s file', () => {
    const mounts = [{ name: 'mine', mountPath: '/run/velda' }];
    const template = { spec: { containers: [{ name: 'agent', image: 'a', volumeMounts: mounts }] } };

    expect(() => templateOf({ template })).toThrow('mounts something at /run/velda');
  });
});

it('a configuration needs an image or a template', () => {
  expect(DeploymentConfig.safeParse({}).error?.issues[0]?.message).toBe('needs image, template, or both');
});
