// What a refusal of the API server means. It answers with a Status object, a proxy before it with anything.
import { kindOfStatus, plainMessage, retryAfterMs } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
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
  return status?.code === 404 && status.details.name === undefined;
};

const hasCause = (status: KubeStatus, reason: string): boolean =>
  status.causes.some((cause) => cause.reason === reason);

const BY_CODE: Readonly<Record<number, FaultKind>> = { 405: 'unsupported', 406: 'unsupported', 415: 'unsupported' };

function kindOf(status: KubeStatus): FaultKind {
  const { code, reason, message } = status;
  if (code === 403 && /exceeded quota/i.test(message)) return 'quota';
  if (code === 403 && hasCause(status, 'NamespaceTerminating')) return 'missing';
  if (code === 409)
    return reason === 'AlreadyExists' || hasCause(status, 'FieldManagerConflict') ? 'conflict' : 'stale';
  if (code === 410) return 'stale';
  return BY_CODE[code] ?? kindOfStatus(code);
}

function ruleFor({ verb, resource, subresource }: KubeIntent): string {
  const named = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  return `{apiGroups: ["${resource.group}"], resources: ["${named}"], verbs: ["${verb}"]}`;
}

const whereOf = ({ resource, namespace }: KubeIntent): string =>
  !resource.isNamespaced ? 'in the cluster' : namespace ? `in namespace ${namespace}` : 'in all namespaces';

function remedyFor(intent: KubeIntent, status: KubeStatus, kind: FaultKind): string | undefined {
  const { resource, namespace } = intent;
  if (kind === 'denied') {
    const role = resource.isNamespaced && namespace ? `Role of namespace ${namespace}` : 'ClusterRole';
    return `Add this rule to its ${role}: ${ruleFor(intent)}.`;
  }
  if (kind === 'quota') return `Raise the ResourceQuota of namespace ${namespace ?? 'default'}, or ask for less.`;
  if (kind === 'unauthenticated') return 'Correct the credential of this cluster.';
  if (hasCause(status, 'NamespaceTerminating')) return 'Wait until the namespace is gone, or choose another.';
  if (kind === 'missing' && status.details.name === undefined)
    return `Install the CustomResourceDefinition ${qualifiedName(resource)} with kubectl apply -f.`;
  return undefined;
}

/** For messages: `create pods gpu-1 in namespace ml`. */
export function describeIntent(intent: KubeIntent): string {
  const { verb, resource, name, subresource } = intent;
  const what = [qualifiedName(resource), ...(subresource ? [subresource] : []), ...(name ? [name] : [])].join(' ');
  return `${verb} ${what} ${whereOf(intent)}`;
}

function messageOf(
  intent: KubeIntent,
  status: KubeStatus,
  { kind, server }: { kind: FaultKind; server: string },
): string {
  const said = plainMessage(status.message);
  if (kind === 'missing' && status.details.name === undefined)
    return `The API server ${server} has no resource ${qualifiedName(intent.resource)}.`;
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
  const kind = kindOf(status);
  const seconds = status.details.retryAfterSeconds;
  return new Fault(kind, messageOf(intent, status, { kind, server }), {
    cause: status,
    retryAfterMs: retryAfterMs(retryAfter ?? (seconds ? String(seconds) : undefined), nowMs),
    remedy: remedyFor(intent, status, kind),
  });
}
