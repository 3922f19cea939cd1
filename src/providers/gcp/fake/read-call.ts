import type { WireCall } from '#fakes/mishaps.ts';

export type Service = 'container' | 'oauth2' | 'sts' | 'iamcredentials' | 'metadata' | 'workload' | 'unknown';

/** A request as the wire has it; its action is `container.clusters.get`, `oauth2.token` and so on. */
export interface GcpCall extends WireCall {
  readonly service: Service;
  readonly path: string;
  readonly headers: Headers;
  /** The query and the form, or the JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

const SERVICES: Readonly<Record<string, Service>> = {
  'container.googleapis.com': 'container',
  'oauth2.googleapis.com': 'oauth2',
  'sts.googleapis.com': 'sts',
  'iamcredentials.googleapis.com': 'iamcredentials',
  'metadata.google.internal': 'metadata',
  'workload.test': 'workload',
};

const ACTIONS: readonly (readonly [service: Service, pattern: RegExp, action: string])[] = [
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/[^/]+\/clusters\/[^/]+$/, 'clusters.get'],
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/-\/clusters$/, 'clusters.list'],
  ['oauth2', /^POST \/token$/, 'token'],
  ['sts', /^POST \/v1\/token$/, 'token'],
  ['iamcredentials', /^POST \/v1\/projects\/-\/serviceAccounts\/[^/]+:generateAccessToken$/, 'generateAccessToken'],
  ['metadata', /^GET \/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/, 'token'],
];

export async function readCall(request: Request): Promise<GcpCall> {
  const url = new URL(request.url);
  const service = SERVICES[url.host] ?? 'unknown';
  const line = `${request.method} ${url.pathname}`;
  const action = ACTIONS.find(([of, pattern]) => of === service && pattern.test(line))?.[2] ?? 'unknown';
  const text = await request.text();
  const isJson = request.headers.get('content-type') === 'application/json';
  const body = isJson ? JSON.parse(text) : Object.fromEntries([...url.searchParams, ...new URLSearchParams(text)]);
  return { service, action: `${service}.${action}`, region: '', path: url.pathname, headers: request.headers, body };
}
