// Pods that the admission of a real API server refuses: the object says what to correct.
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type AgentPoolDraft, type KubeScene, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { ACCOUNT_USER } from './parts/rights.ts';
import { sharedScene } from './parts/shared-scene.ts';

const part = sharedScene({ namespaces: ['default', 'strict', 'limited', 'policed'] });

function poolWith(name: string, namespace: string, pod: object): AgentPoolDraft {
  const draft = smallPool(name, namespace);
  const { template } = draft.spec;
  return { ...draft, spec: { ...draft.spec, template: { ...template, spec: { ...template.spec, ...pod } } } };
}

const troubleOf = (scene: KubeScene, pool: string, namespace: string): Promise<string> =>
  until(`trouble of ${pool}`, async () => {
    const condition = await scene.condition(pool, 'BackendHealthy', namespace);
    return condition.startsWith('False') && condition;
  });

const CPU_LIMIT = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'small', namespace: 'limited' },
  spec: { limits: [{ type: 'Container', max: { cpu: '100m' } }] },
};

const POLICY = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'own-registry' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    validations: [
      {
        expression: "object.spec.containers.all(c, c.image.startsWith('registry.example/'))",
        message: 'images must come from registry.example',
      },
    ],
  },
};

const BINDING = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'own-registry' },
  spec: {
    policyName: 'own-registry',
    validationActions: ['Deny'],
    matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'policed' } } },
  },
};

const REFUSALS = [
  {
    by: 'Pod Security',
    namespace: 'strict',
    pod: {},
    said: 'violates PodSecurity "restricted:latest"',
    remedy: 'label namespace strict with pod-security.kubernetes.io/enforce=privileged.',
    repair: ['label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=privileged', '--overwrite'],
  },
  {
    by: 'a missing PriorityClass',
    namespace: 'default',
    pod: { priorityClassName: 'urgent' },
    said: 'no PriorityClass with name urgent was found',
    remedy: 'Create the PriorityClass urgent, or correct priorityClassName in the pod template.',
    repair: ['create', 'priorityclass', 'urgent', '--value=5'],
  },
  {
    by: 'a missing ServiceAccount',
    namespace: 'default',
    pod: { serviceAccountName: 'robot' },
    said: 'error looking up service account default/robot: serviceaccount "robot" not found',
    remedy: 'Create the ServiceAccount robot in namespace default, or correct serviceAccountName in the pod template.',
    repair: ['create', 'serviceaccount', 'robot', '-n', 'default'],
  },
  {
    by: 'a LimitRange',
    namespace: 'limited',
    pod: {
      containers: [{ name: 'agent', image: 'a', args: ['--pool=a-limitrange'], resources: { limits: { cpu: '4' } } }],
    },
    said: 'maximum cpu usage per Container is 100m, but limit is 4',
    remedy: 'to fit the LimitRange of namespace limited, or change the LimitRange.',
    repair: ['delete', 'limitrange', 'small', '-n', 'limited'],
  },
  {
    by: 'a ValidatingAdmissionPolicy',
    namespace: 'policed',
    pod: {},
    said: 'images must come from registry.example',
    remedy: 'Change the pod template as ValidatingAdmissionPolicy own-registry asks, or change the policy.',
    repair: ['delete', 'validatingadmissionpolicybinding', 'own-registry'],
  },
];

const nameOf = (by: string): string => by.toLowerCase().replaceAll(' ', '-');

test('a pod that admission refuses: the pool says what to correct, and tries seldom', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  await cluster.kubectl('label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted');
  await cluster.apply(CPU_LIMIT, POLICY, BINDING);
  // The API server reads policies by a watch of its own.
  const probe = ['run', 'probe', '--image=a', '--dry-run=server', '-n', 'policed'];
  await until('the policy is in force', async () => (await cluster.tryKubectl(...probe)).code !== 0);

  await cluster.apply(...REFUSALS.map(({ by, namespace, pod }) => poolWith(nameOf(by), namespace, pod)));
  for (const { by, namespace, said, remedy } of REFUSALS) {
    const condition = await troubleOf(scene, nameOf(by), namespace);
    expect(condition).toContain(said);
    expect(condition).toContain(remedy);
    expect(condition).not.toContain('Add this rule');
  }
  const refused = cluster.audited(ACCOUNT_USER).filter(({ verb, objectRef, responseStatus }) => {
    return verb === 'create' && objectRef?.resource === 'pods' && (responseStatus?.code ?? 0) >= 400;
  });
  expect(refused.length).toBeLessThan(4 * REFUSALS.length);
});

test('a pod that admission refused is made once what it asked for is corrected', async (context) => {
  const scene = needed(context, part());

  for (const { repair } of REFUSALS) await scene.cluster.kubectl(...repair);

  for (const { by, namespace } of REFUSALS) {
    const selector = `pool=${nameOf(by)}`;
    await until(`pods of ${by}`, async () => (await scene.pods(selector, namespace)).length > 0);
  }
});
