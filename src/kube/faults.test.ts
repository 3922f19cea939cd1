import { describe, expect, it } from 'vitest';
import type { Fault } from '#core/fault.ts';
import { type KubeIntent, readStatus, refusalOf } from './faults.ts';
import { PODS } from './resource.ts';

const POD: KubeIntent = { verb: 'create', resource: PODS, namespace: 'ml', name: 'm-1' };
const STATEFUL_SETS = { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet', isNamespaced: true };
const STATEFUL_SET: KubeIntent = { verb: 'patch', resource: STATEFUL_SETS, namespace: 'ml', name: 'web' };
const AGENT_POOLS = { group: 'velda.io', version: 'v1', plural: 'agentpools', kind: 'AgentPool', isNamespaced: true };

interface Said {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: object;
}

function faultOf(intent: KubeIntent, { code, reason = 'Forbidden', message, details = {} }: Said): Fault {
  const status = readStatus(code, { kind: 'Status', status: 'Failure', code, reason, message, details });
  return refusalOf(intent, status, { server: 'https://kube.test', nowMs: 0 });
}

// The texts are those of Kubernetes 1.36, its plugins of admission and its authorizers; PodSecurityPolicy is of 1.19.
const forbidden = (what: string): Said => ({
  code: 403,
  message: `pods "m-1" is forbidden: ${what}`,
  details: { name: 'm-1', kind: 'pods' },
});

describe('a pod that the admission of the cluster refuses names its own remedy', () => {
  it.each<[string, Said, string, string]>([
    [
      'Pod Security',
      forbidden(
        'violates PodSecurity "restricted:latest": privileged (container "agent" must not set securityContext.privileged=true)',
      ),
      'denied',
      'Change the securityContext in the pod template to fit the standard restricted, or label namespace ml with pod-security.kubernetes.io/enforce=privileged.',
    ],
    [
      'a missing PriorityClass',
      forbidden('no PriorityClass with name high was found'),
      'invalid',
      'Create the PriorityClass high, or correct priorityClassName in the pod template.',
    ],
    [
      'a priority beside its PriorityClass',
      forbidden(
        'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
      ),
      'invalid',
      'Remove priority and preemptionPolicy from the pod template: its PriorityClass sets them.',
    ],
    [
      'an owner whose end our object may not hold up',
      forbidden(
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      ),
      'denied',
      'Grant the account the verb update on the finalizers of the owner, such as deployments/finalizers.',
    ],
    [
      'a missing ServiceAccount',
      forbidden('error looking up service account ml/agent: serviceaccount "agent" not found'),
      'invalid',
      'Create the ServiceAccount agent in namespace ml, or correct serviceAccountName in the pod template.',
    ],
    [
      'a LimitRange',
      forbidden('[maximum cpu usage per Container is 100m, but limit is 4, maximum memory usage per Pod is 1Gi]'),
      'invalid',
      'Change the resources in the pod template to fit the LimitRange of namespace ml, or change the LimitRange.',
    ],
    [
      'the ratio of a LimitRange',
      forbidden('cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000'),
      'invalid',
      'Change the resources in the pod template to fit the LimitRange of namespace ml, or change the LimitRange.',
    ],
    [
      'a ResourceQuota that is used up',
      forbidden('exceeded quota: team, requested: pods=1, used: pods=4, limited: pods=4'),
      'quota',
      'Raise the ResourceQuota of namespace ml, or ask for less.',
    ],
    [
      'a ResourceQuota that nothing may be outside of',
      forbidden('insufficient quota to match these scopes: [{PriorityClass In [high]}]'),
      'quota',
      'Add a ResourceQuota with these scopes to namespace ml.',
    ],
    [
      'a ResourceQuota for which the pod names too little',
      forbidden('failed quota: team: must specify limits.cpu for: agent; requests.memory for: agent'),
      'invalid',
      'Set these requests and limits in the pod template: ResourceQuota team of namespace ml needs them.',
    ],
    [
      'a missing RuntimeClass',
      forbidden('pod rejected: RuntimeClass "gvisor" not found'),
      'invalid',
      'Create the RuntimeClass gvisor, or correct runtimeClassName in the pod template.',
    ],
    [
      'a ValidatingAdmissionPolicy',
      {
        ...forbidden("ValidatingAdmissionPolicy 'images' with binding 'ml' denied request: only our registry"),
        code: 422,
        reason: 'Invalid',
      },
      'denied',
      'Change the pod template as ValidatingAdmissionPolicy images asks, or change the policy.',
    ],
    [
      'a ValidatingAdmissionPolicy whose reason is Unauthorized',
      {
        ...forbidden("ValidatingAdmissionPolicy 'images' with binding 'ml' denied request: only our registry"),
        code: 401,
        reason: 'Unauthorized',
      },
      'denied',
      'Change the pod template as ValidatingAdmissionPolicy images asks, or change the policy.',
    ],
    [
      'an admission webhook that quotes the words of RBAC',
      {
        code: 403,
        message:
          'admission webhook "validate.kyverno.svc-fail" denied the request: User "x" cannot create resource "pods" without a team',
      },
      'denied',
      'Change the pod template as admission webhook validate.kyverno.svc-fail asks, or change its rules.',
    ],
    [
      'an admission webhook that names no code',
      { code: 400, reason: '', message: 'admission webhook "a.test" denied the request without explanation' },
      'denied',
      'Change the pod template as admission webhook a.test asks, or change its rules.',
    ],
    [
      'the SecurityContextConstraints of OpenShift',
      forbidden(
        'unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount]',
      ),
      'denied',
      'Let the ServiceAccount of the pod use a SecurityContextConstraint that allows it (oc adm policy add-scc-to-user), or change the pod template.',
    ],
    [
      'a PodSecurityPolicy',
      forbidden('PodSecurityPolicy: unable to admit pod: []'),
      'denied',
      'Let the ServiceAccount of the pod use a PodSecurityPolicy that allows it, or change the pod template.',
    ],
    [
      'any other rule',
      forbidden('pod node label selector conflicts with its namespace node label selector'),
      'denied',
      'Change the pod template as the message says, or change the rule of the cluster that refused it.',
    ],
  ])('%s', (_, said, kind, remedy) => {
    const fault = faultOf(POD, said);

    expect({ kind: fault.kind, remedy: fault.remedy }).toEqual({ kind, remedy });
    expect(fault.message).toContain(said.message);
  });

  it('an API server whose admission is not ready yet is unavailable', () => {
    expect(faultOf(POD, forbidden('not yet ready to handle request')).kind).toBe('unavailable');
  });
});

describe('a refusal of RBAC names the rule that is missing', () => {
  it('in the words of the API server where they differ from the request', () => {
    const said = {
      code: 403,
      message:
        'agentpools.velda.io "gpu" is forbidden: User "u" cannot create resource "agentpools/status" in API group "velda.io" in the namespace "ml": requires one of ["container.pods.create"] permission(s).',
    };

    expect(faultOf({ ...POD, verb: 'patch', resource: AGENT_POOLS }, said)).toMatchObject({
      kind: 'denied',
      remedy:
        'Add this rule to its Role of namespace ml: {apiGroups: ["velda.io"], resources: ["agentpools/status"], verbs: ["create"]}.',
    });
  });

  it('in a ClusterRole where the request was for the whole cluster', () => {
    const message = 'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';

    expect(faultOf({ verb: 'list', resource: PODS }, { code: 403, message }).remedy).toBe(
      'Add this rule to its ClusterRole: {apiGroups: [""], resources: ["pods"], verbs: ["list"]}.',
    );
  });

  it('a proxy that refuses without a word of RBAC is told nothing about rules', () => {
    expect(
      refusalOf(POD, readStatus(403, '<html>denied</html>'), { server: 'https://kube.test', nowMs: 0 }),
    ).toMatchObject({ kind: 'denied', remedy: 'Correct the credentials or their rights.' });
  });
});

describe('a failure inside the API server', () => {
  const internal = (message: string, more: Partial<Said> = {}): Said => ({ code: 500, reason: '', message, ...more });
  it('that names the object is a refusal of that object', () => {
    const twice =
      'failed to create typed patch object (ml/web; apps/v1, Kind=StatefulSet): .spec.template.spec.containers[name="rill"].ports: duplicate entries for key [containerPort=8080,protocol="TCP"]';

    expect(faultOf(STATEFUL_SET, internal(twice))).toMatchObject({
      kind: 'invalid',
      remedy: 'Correct the StatefulSet as the message says.',
    });
    expect(faultOf(POD, internal('cannot be stored', { details: { name: 'm-1', kind: 'pods' } })).kind).toBe('invalid');
    expect(
      faultOf(POD, internal('admission webhook "a.test" denied the request: no', { reason: 'InternalError' })).kind,
    ).toBe('denied');
  });

  it.each<[string, KubeIntent, Said]>([
    ['does not name the object', STATEFUL_SET, internal('etcdserver: request timed out')],
    [
      'names another one',
      STATEFUL_SET,
      internal('failed to create typed patch object (ml/web-2; apps/v1, Kind=StatefulSet): no'),
    ],
    [
      'cannot reach a webhook',
      POD,
      internal('Internal error occurred: failed calling webhook "a.test": Post "https://a.ml.svc/m-1": EOF', {
        reason: 'InternalError',
        details: { causes: [{ message: 'failed calling webhook "a.test" for ml/m-1;' }] },
      }),
    ],
    // Its `details.name` is the operation.
    [
      'asks for time',
      { ...POD, name: 'create' },
      internal('The create operation against pods could not be completed at this time, please try again.', {
        reason: 'ServerTimeout',
        details: { name: 'create', kind: 'pods', retryAfterSeconds: 1 },
      }),
    ],
    ['answers a read', { ...STATEFUL_SET, verb: 'get' }, internal('unable to decode (ml/web; apps/v1): no')],
  ])('that %s leaves open whether anything was done', (_, intent, said) => {
    expect(faultOf(intent, said).kind).toBe('unavailable');
  });
});
