// What the admission of an API server refuses, known by its words, and what to do about each. The words are those of
// k8s.io/kubernetes/plugin/pkg/admission, k8s.io/apiserver/pkg/admission and k8s.io/pod-security-admission.
import type { FaultKind } from '#core/fault.ts';

export interface AdmissionRefusal {
  readonly kind: FaultKind;
  readonly remedy: string | undefined;
}

interface Refused {
  readonly code: number;
  readonly message: string;
  /** What the user corrects: `the pod template`, `the StatefulSet`. */
  readonly what: string;
  /** For messages: `namespace ml`. */
  readonly where: string;
}

interface AdmissionRule {
  readonly words: RegExp;
  readonly kind: FaultKind;
  remedy(found: readonly string[], about: Refused): string | undefined;
}

/** Policies and webhooks choose their status code themselves; 409, 429 and 503 of theirs ask for another try. */
const CHOSEN_CODES: ReadonlySet<number> = new Set([400, 401, 403, 413, 422, 500]);

/** They quote the texts of their authors, so they are looked for before anything else. */
const OF_AUTHORS: readonly AdmissionRule[] = [
  {
    words: /\badmission webhook "([^"]*)" denied the request/,
    kind: 'denied',
    remedy: ([name], { what }) => `Change ${what} as admission webhook ${name} asks, or change its rules.`,
  },
  {
    words: /\bValidatingAdmissionPolicy '([^']*)'.* denied request/s,
    kind: 'denied',
    remedy: ([name], { what }) => `Change ${what} as ValidatingAdmissionPolicy ${name} asks, or change the policy.`,
  },
];

const OF_PLUGINS: readonly AdmissionRule[] = [
  {
    words: /not yet ready to handle request|at this time because there was an error enforcing limit ranges/,
    kind: 'unavailable',
    remedy: () => undefined,
  },
  {
    words: /violates PodSecurity "([^":]*)/,
    kind: 'denied',
    remedy: ([standard], { what, where }) =>
      `Change the securityContext in ${what} to fit the standard ${standard}, or label ${where} with pod-security.kubernetes.io/enforce=privileged.`,
  },
  {
    words: /no PriorityClass with name (\S+) was found/,
    kind: 'invalid',
    remedy: ([name], { what }) => `Create the PriorityClass ${name}, or correct priorityClassName in ${what}.`,
  },
  {
    words: /must not be provided in pod spec; priority admission controller/,
    kind: 'invalid',
    remedy: (_, { what }) => `Remove priority and preemptionPolicy from ${what}: its PriorityClass sets them.`,
  },
  {
    words: /error looking up service account ([^/\s]+)\/(\S+): serviceaccount ".*" not found/,
    kind: 'invalid',
    remedy: ([namespace, name], { what }) =>
      `Create the ServiceAccount ${name} in namespace ${namespace}, or correct serviceAccountName in ${what}.`,
  },
  {
    words: /\b(?:minimum|maximum) \S+ usage per \S+ is |max limit to request ratio per /,
    kind: 'invalid',
    remedy: (_, { what, where }) =>
      `Change the resources in ${what} to fit the LimitRange of ${where}, or change the LimitRange.`,
  },
  {
    words: /failed quota: ([^\s:]+): must specify /,
    kind: 'invalid',
    remedy: ([quota], { what, where }) =>
      `Set these requests and limits in ${what}: ResourceQuota ${quota} of ${where} needs them.`,
  },
  {
    words: /exceeded quota/i,
    kind: 'quota',
    remedy: (_, { where }) => `Raise the ResourceQuota of ${where}, or ask for less.`,
  },
  {
    words: /insufficient quota to match these scopes/,
    kind: 'quota',
    remedy: (_, { where }) => `Add a ResourceQuota with these scopes to ${where}.`,
  },
  {
    words: /RuntimeClass "([^"]*)" not found/,
    kind: 'invalid',
    remedy: ([name], { what }) => `Create the RuntimeClass ${name}, or correct runtimeClassName in ${what}.`,
  },
  {
    words: /unable to validate against any security context constraint/,
    kind: 'denied',
    remedy: (_, { what }) =>
      `Let the ServiceAccount of the pod use a SecurityContextConstraint that allows it (oc adm policy add-scc-to-user), or change ${what}.`,
  },
  {
    words: /\bPodSecurityPolicy: |any pod security policy/,
    kind: 'denied',
    remedy: (_, { what }) =>
      `Let the ServiceAccount of the pod use a PodSecurityPolicy that allows it, or change ${what}.`,
  },
  {
    words: /cannot set blockOwnerDeletion .* you can't set finalizers on/,
    kind: 'denied',
    remedy: () => 'Grant the account the verb update on the finalizers of the owner, such as deployments/finalizers.',
  },
  // After RBAC, only admission uses the words of a refusal that names an object.
  {
    words: /\bis forbidden: /,
    kind: 'denied',
    remedy: (_, { what }) => `Change ${what} as the message says, or change the rule of the cluster that refused it.`,
  },
];

function firstOf(rules: readonly AdmissionRule[], about: Refused): AdmissionRefusal | undefined {
  for (const { words, kind, remedy } of rules) {
    const found = words.exec(about.message);
    if (found) return { kind, remedy: remedy(found.slice(1), about) };
  }
  return undefined;
}

/** The refusal of a policy or webhook, whatever it says of rights. */
export const refusalOfAuthor = (about: Refused): AdmissionRefusal | undefined =>
  CHOSEN_CODES.has(about.code) ? firstOf(OF_AUTHORS, about) : undefined;

/** The refusal of a plugin of the API server itself; ask RBAC's own words first. */
export const refusalOfPlugin = (about: Refused): AdmissionRefusal | undefined =>
  about.code === 403 ? firstOf(OF_PLUGINS, about) : undefined;
