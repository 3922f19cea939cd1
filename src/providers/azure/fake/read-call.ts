import type { WireCall } from '#fakes/mishaps.ts';

export type Service = 'management' | 'entra' | 'imds' | 'unknown';

/** A request as the wire has it; its action is `management.listClusterUserCredential`, `entra.token` and so on. */
export interface AzureCall extends WireCall {
  readonly service: Service;
  readonly path: string;
  readonly headers: Headers;
  /** The query and the form. */
  readonly params: Readonly<Record<string, string>>;
}

const SERVICES: Readonly<Record<string, Service>> = {
  'management.azure.com': 'management',
  'login.microsoftonline.com': 'entra',
  '169.254.169.254': 'imds',
};

const ACTIONS: readonly (readonly [service: Service, pattern: RegExp, action: string])[] = [
  [
    'management',
    /^POST \/subscriptions\/.*\/managedClusters\/[^/]+\/listClusterUserCredential$/,
    'listClusterUserCredential',
  ],
  [
    'management',
    /^GET \/subscriptions\/[^/]+\/providers\/Microsoft.ContainerService\/managedClusters$/,
    'listClusters',
  ],
  ['entra', /^POST \/[^/]+\/oauth2\/v2.0\/token$/, 'token'],
  ['imds', /^GET \/metadata\/identity\/oauth2\/token$/, 'token'],
];

export async function readCall(request: Request): Promise<AzureCall> {
  const url = new URL(request.url);
  const service = SERVICES[url.host] ?? 'unknown';
  const line = `${request.method} ${url.pathname}`;
  const action = ACTIONS.find(([of, pattern]) => of === service && pattern.test(line))?.[2] ?? 'unknown';
  const params = Object.fromEntries([...url.searchParams, ...new URLSearchParams(await request.text())]);
  return { service, action: `${service}.${action}`, region: '', path: url.pathname, headers: request.headers, params };
}
