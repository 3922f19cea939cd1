import type { WireCall } from '#fakes/failure-rules.ts';
import { readProtobuf } from './protobuf.ts';

/** What a path of the API names. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** `service` is the plural of the resource, `action` verb and resource: `patch agentpools/status`. */
export interface KubeCall extends WireCall {
  readonly verb: string;
  readonly path: string;
  /** Undefined: not about objects, but discovery, health or version. */
  readonly target: Target | undefined;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

// `namespaces/NAME/status` is about the namespace itself, `namespaces/NAME/pods` about what is in it.
const OF_NAMESPACE = new Set(['status', 'finalize']);

function targetOf(parts: readonly string[]): Target | undefined {
  const group = parts[0] === 'apis' ? parts[1] : '';
  const [version, ...rest] = parts.slice(parts[0] === 'apis' ? 2 : 1);
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  const isInside = rest[0] === 'namespaces' && rest[2] !== undefined && !OF_NAMESPACE.has(rest[2]);
  const [plural = '', name, subresource] = isInside ? rest.slice(2) : rest;
  return { group, version, plural, namespace: isInside ? rest[1] : undefined, name, subresource };
}

const VERBS: Readonly<Record<string, readonly [onObject: string, onCollection: string]>> = {
  GET: ['get', 'list'],
  HEAD: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'update'],
  PATCH: ['patch', 'patch'],
  DELETE: ['delete', 'deletecollection'],
};

function verbOf(method: string, target: Target | undefined, query: URLSearchParams): string {
  const [onObject, onCollection] = VERBS[method] ?? ['get', 'list'];
  if (!target || target.name !== undefined) return onObject;
  const isWatch = ['1', 'true'].includes(query.get('watch') ?? '');
  return onCollection === 'list' && isWatch ? 'watch' : onCollection;
}

/** The body as text; a protobuf of a known kind as JSON, as if it had been sent so. */
async function bodyOf(request: Request): Promise<Pick<KubeCall, 'headers' | 'body'>> {
  const { headers } = request;
  if (!headers.get('content-type')?.includes('protobuf')) return { headers, body: await request.text() };
  const body = readProtobuf(new Uint8Array(await request.arrayBuffer()));
  if (body === undefined) return { headers, body: '' };
  const asJson = new Headers(headers);
  asJson.set('content-type', 'application/json');
  return { headers: asJson, body };
}

export async function readCall(request: Request): Promise<KubeCall> {
  const { pathname, searchParams: query } = new URL(request.url);
  const parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const target = parts[0] === 'api' || parts[0] === 'apis' ? targetOf(parts) : undefined;
  const verb = verbOf(request.method, target, query);
  const resource = target && [target.plural, target.subresource].filter(Boolean).join('/');
  return {
    service: target?.plural ?? parts[0] ?? '',
    action: `${verb} ${resource ?? pathname}`,
    region: '',
    verb,
    path: pathname,
    target,
    query,
    ...(await bodyOf(request)),
  };
}
