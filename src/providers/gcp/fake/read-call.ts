import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

type Service = 'container' | 'oauth2' | 'sts' | 'iamcredentials' | 'metadata' | 'workload';

/** A request as the wire has it; its action is `container.clusters.get`, `oauth2.token` and so on. */
export interface GcpCall extends RestCall<Service> {
  /** The query and the form, or the JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

const HOSTS: RestActions<Service>['hosts'] = {
  'container.googleapis.com': 'container',
  'oauth2.googleapis.com': 'oauth2',
  'sts.googleapis.com': 'sts',
  'iamcredentials.googleapis.com': 'iamcredentials',
  'metadata.google.internal': 'metadata',
  'workload.test': 'workload',
};

const ACTIONS: RestActions<Service>['actions'] = [
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/[^/]+\/clusters\/[^/]+$/, 'clusters.get'],
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/-\/clusters$/, 'clusters.list'],
  ['oauth2', /^POST \/token$/, 'token'],
  ['sts', /^POST \/v1\/token$/, 'token'],
  ['iamcredentials', /^POST \/v1\/projects\/-\/serviceAccounts\/[^/]+:generateAccessToken$/, 'generateAccessToken'],
  ['metadata', /^GET \/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/, 'token'],
];

export async function readCall(request: Request): Promise<GcpCall> {
  const text = await request.text();
  const isJson = request.headers.get('content-type') === 'application/json';
  const body = isJson ? JSON.parse(text) : parametersOf(request, text);
  return { ...restCallOf(request, { hosts: HOSTS, actions: ACTIONS }), body };
}
