// Refusals as the API server words them, and the `Status` objects that carry them.
import { type Refusal, refusal } from '#fakes/refusal.ts';
import type { Resource } from '../api/resource.ts';
import { compact, type Fields } from '../objects/object.ts';
import type { Cause } from './cause.ts';

interface KubeRefusal extends Refusal {
  readonly details?: Fields;
  /** Further fields of the `Status`: a continue token, say. */
  readonly metadata?: Fields;
  readonly retryAfterSeconds?: number;
}

const STATUS_OF: Readonly<Record<string, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/** Throw the result. */
export function refuse(reason: string, message: string, more: Partial<KubeRefusal> = {}): KubeRefusal {
  return Object.assign(refusal(reason, message, STATUS_OF[reason] ?? 500), more);
}

/** `pods` or `agentpools.velda.io`. */
export const qualified = ({ plural, group }: Pick<Resource, 'plural' | 'group'>): string =>
  group === '' ? plural : `${plural}.${group}`;

const named = (resource: Pick<Resource, 'plural' | 'group'>, name: string): Fields =>
  compact({ name, group: resource.group || undefined, kind: resource.plural });

export const notFound = (resource: Pick<Resource, 'plural' | 'group'>, name: string): KubeRefusal =>
  refuse('NotFound', `${qualified(resource)} "${name}" not found`, { details: named(resource, name) });

export const alreadyExists = (resource: Resource, name: string): KubeRefusal =>
  refuse('AlreadyExists', `${qualified(resource)} "${name}" already exists`, { details: named(resource, name) });

export const conflict = (resource: Resource, name: string, what: string): KubeRefusal =>
  refuse('Conflict', `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${what}`, {
    details: named(resource, name),
  });

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export function forbidden(
  resource: Pick<Resource, 'plural' | 'group'>,
  name: string,
  what: string,
  causes?: readonly Cause[],
): KubeRefusal {
  const title = `${qualified(resource)}${name === '' ? '' : ` "${name}"`}`;
  return refuse('Forbidden', `${title} is forbidden: ${what}`, {
    details: compact({ ...named(resource, name), causes }),
  });
}

export function invalid(
  { kind, group }: Pick<Resource, 'kind' | 'group'>,
  name: string,
  causes: readonly Cause[],
): KubeRefusal {
  const each = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = each.length === 1 ? each[0] : `[${each.join(', ')}]`;
  const title = group === '' ? kind : `${kind}.${group}`;
  return refuse('Invalid', `${title} "${name}" is invalid: ${text}`, {
    details: compact({ name, group: group || undefined, kind, causes }),
  });
}

export const tooManyRequests = (): KubeRefusal =>
  refuse('TooManyRequests', 'the server has received too many requests and has asked us to try again later', {
    retryAfterSeconds: 1,
  });

export const expired = (message: string, metadata?: Fields): KubeRefusal =>
  refuse('Expired', message, metadata ? { metadata } : {});

/** The `Status` of a refusal. It leaves out what is zero. */
export function statusOf(refused: Refusal): Fields {
  const { code, message, status, details, metadata, retryAfterSeconds } = refused as KubeRefusal;
  return compact({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: metadata ?? {},
    status: 'Failure',
    message,
    reason: code,
    details: retryAfterSeconds === undefined || retryAfterSeconds === 0 ? details : { ...details, retryAfterSeconds },
    code: status,
  });
}

const DEFAULT_RETRY_SECONDS = 1;

export function refusalResponse(refused: Refusal): Response {
  const { status } = refused;
  const after = (refused as KubeRefusal).retryAfterSeconds ?? DEFAULT_RETRY_SECONDS;
  const headers = (status === 429 || status === 503) && after > 0 ? { 'retry-after': String(after) } : undefined;
  return Response.json(statusOf(refused), headers ? { status, headers } : { status });
}

/** What a delete answers when the object is gone at once. */
export const success = (details: Fields): Fields => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
});
