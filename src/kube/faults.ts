// What a refusal of the API server means. It answers with a Status object, a proxy before it with anything.
import { kindOfStatus, plainMessage, retryAfterMs } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import { refusalOfAuthor, refusalOfPlugin } from './admission.ts';
import { type KubeResource, qualifiedName } from './resource.ts';

/** What a request wanted, in the words of RBAC. */
export interface KubeIntent {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  readonly resource: KubeResource;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

/** The API server's own words for a failure; the cause of the fault. */
export interface KubeStatus {
  readonly code: number;
  /** `AlreadyExists`, `Conflict`, `Expired`, …; empty where a proxy answered. */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly StatusCause[];
  readonly details: { readonly name?: string; readonly kind?: string; readonly retryAfterSeconds?: number };
  /** It came as an event of a watch, not as the answer to a request. */
  readonly isEvent?: true;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a Status object; whatever else was answered becomes its message. */
export function readStatus(code: number, body: unknown): KubeStatus {
  if (!isRecord(body) || body.kind !== 'Status')
    return { code, reason: '', message: typeof body === 'string' ? body : '', causes: [], details: {} };
  const details = isRecord(body.details) ? body.details : {};
  return {
    code: typeof body.code === 'number' && body.code > 0 ? body.code : code,
    reason: typeof body.reason === 'string' ? body.reason : '',
    message: typeof body.message === 'string' ? body.message : '',
    causes: Array.isArray(details.causes) ? details.causes.filter(isRecord) : [],
    details,
  };
}

/** The Status behind a fault, where the API server gave one. */
export function statusOf(fault: unknown): KubeStatus | undefined {
  if (!(fault instanceof Fault) || !isRecord(fault.cause)) return undefined;
  return typeof fault.cause.reason === 'string' && Array.isArray(fault.cause.causes)
    ? (fault.cause as unknown as KubeStatus)
    : undefined;
}

/** The version that we want to go on from is known no longer: list again. */
export function isExpired(fault: unknown): boolean {
  const status = statusOf(fault);
  return status !== undefined && (status.code === 410 || status.reason === 'Expired' || status.reason === 'Gone');
}

/** An object of that name exists; whether it is ours must be looked at. */
export const isAlreadyThere = (fault: unknown): boolean => statusOf(fault)?.reason === 'AlreadyExists';

/** The object is absent; at a create, its namespace. Its resource is known. */
export const isObjectMissing = (fault: unknown): boolean => {
  const status = statusOf(fault);
  return status?.code === 404 && status.details.name !== undefined;
};

/**
 * The API server knows no such resource: its CustomResourceDefinition is missing. It names no object then, or answers in
 * plain text where it does not know the whole group.
 */
export const isResourceUnknown = (fault: unknown): boolean => {
  const status = statusOf(fault);
  return status !== undefined && isResourceAbsent(status);
};

const isResourceAbsent = ({ code, details }: KubeStatus): boolean => code === 404 && details.name === undefined;

const hasCause = (status: KubeStatus, reason: string): boolean =>
  status.causes.some((cause) => cause.reason === reason);

const BY_CODE: Readonly<Record<number, FaultKind>> = {
  405: 'unsupported',
  406: 'unsupported',
  410: 'stale',
  415: 'unsupported',
};

// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: only an authorizer words a refusal so.
const OF_AUTHORIZER =
  /(?:^|is forbidden: )User ".*?" cannot (\S+) resource "([^"]*)" in API group "([^"]*)" (?:in the namespace "([^"]*)"|at the cluster scope)/;

/** The rule that RBAC misses, in the API server's own words: an apply that would create an object needs `create` too. */
function missingRule(message: string): string | undefined {
  const found = OF_AUTHORIZER.exec(message);
  if (!found) return undefined;
  const [, verb, resource, group, namespace] = found;
  const role = namespace ? `Role of namespace ${namespace}` : 'ClusterRole';
  return `Add this rule to its ${role}: {apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}.`;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/**
 * Whether a 500 is about this object alone. A schema that refuses a merge is answered so, before anything is stored
 * (k8s.io/apimachinery/pkg/util/managedfields). `details.name` of a ServerTimeout is the operation.
 */
function isAboutObject({ verb, namespace, name }: KubeIntent, { code, reason, message, details }: KubeStatus): boolean {
  if (code !== 500 || name === undefined || !WRITES.has(verb) || reason === 'ServerTimeout') return false;
  return details.name === name || message.includes(`(${namespace ?? ''}/${name}; `);
}

interface Verdict {
  readonly kind: FaultKind;
  readonly remedy?: string | undefined;
}

const correctedIn = ({ kind }: KubeResource): string => (kind === 'Pod' ? 'the pod template' : `the ${kind}`);

/** Whoever refused before the object was looked at as such: authentication, authorization, admission. */
function refusedBefore(intent: KubeIntent, status: KubeStatus): Verdict | undefined {
  const { code, message } = status;
  const { resource, namespace } = intent;
  const where = resource.isNamespaced ? `namespace ${namespace ?? 'default'}` : 'the cluster';
  const refused = { code, message, what: correctedIn(resource), where };
  const byAuthor = refusalOfAuthor(refused);
  if (byAuthor) return byAuthor;
  if (code === 401) return { kind: 'unauthenticated', remedy: 'Correct the credential of this cluster.' };
  if (code !== 403) return undefined;
  if (hasCause(status, 'NamespaceTerminating'))
    return { kind: 'missing', remedy: 'Wait until the namespace is gone, or choose another.' };
  const rule = missingRule(message);
  return rule ? { kind: 'denied', remedy: rule } : (refusalOfPlugin(refused) ?? { kind: 'denied' });
}

function verdictOf(intent: KubeIntent, status: KubeStatus): Verdict {
  const { code, reason } = status;
  const before = refusedBefore(intent, status);
  if (before) return before;
  if (isAboutObject(intent, status))
    return { kind: 'invalid', remedy: `Correct ${correctedIn(intent.resource)} as the message says.` };
  if (isResourceAbsent(status)) {
    const definition = qualifiedName(intent.resource);
    return { kind: 'missing', remedy: `Install the CustomResourceDefinition ${definition} with kubectl apply -f.` };
  }
  if (code === 409)
    return { kind: reason === 'AlreadyExists' || hasCause(status, 'FieldManagerConflict') ? 'conflict' : 'stale' };
  return { kind: BY_CODE[code] ?? kindOfStatus(code) };
}

const whereOf = ({ resource, namespace }: KubeIntent): string =>
  !resource.isNamespaced ? 'in the cluster' : namespace ? `in namespace ${namespace}` : 'in all namespaces';

/** For messages: `create pods gpu-1 in namespace ml`. */
export function describeIntent(intent: KubeIntent): string {
  const { verb, resource, name, subresource } = intent;
  const what = [qualifiedName(resource), ...(subresource ? [subresource] : []), ...(name ? [name] : [])].join(' ');
  return `${verb} ${what} ${whereOf(intent)}`;
}

function messageOf(intent: KubeIntent, status: KubeStatus, server: string): string {
  const said = plainMessage(status.message);
  if (isResourceAbsent(status)) return `The API server ${server} has no resource ${qualifiedName(intent.resource)}.`;
  // The message names verb, resource, namespace and who asked, but only where the API server itself has refused.
  return `${server} refused to ${describeIntent(intent)}: ${status.code}${said === '' ? '' : `: ${said}`}`;
}

/** A refusal as the fault that says what to do about it. */
export function refusalOf(
  intent: KubeIntent,
  status: KubeStatus,
  {
    server,
    retryAfter,
    nowMs,
  }: { readonly server: string; readonly retryAfter?: string | null; readonly nowMs: number },
): Fault {
  const { kind, remedy } = verdictOf(intent, status);
  const seconds = status.details.retryAfterSeconds;
  return new Fault(kind, messageOf(intent, status, server), {
    cause: status,
    retryAfterMs: retryAfterMs(retryAfter ?? (seconds ? String(seconds) : undefined), nowMs),
    remedy,
  });
}
