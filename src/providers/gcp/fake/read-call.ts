import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

type Service = 'container' | 'oauth2' | 'sts' | 'iamcredentials' | 'metadata' | 'workload' | 'storage';

/** A request as the wire has it; its action is `container.clusters.get`, `oauth2.token` and so on. */
export interface GcpCall extends RestCall<Service> {
  /** The query and the form, or the JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What was sent, as it came. */
  readonly content: Uint8Array<ArrayBuffer>;
}

const HOSTS: RestActions<Service>['hosts'] = {
  'container.googleapis.com': 'container',
  'oauth2.googleapis.com': 'oauth2',
  'sts.googleapis.com': 'sts',
  'iamcredentials.googleapis.com': 'iamcredentials',
  'metadata.google.internal': 'metadata',
  'workload.test': 'workload',
  'storage.googleapis.com': 'storage',
};

const ACTIONS: RestActions<Service>['actions'] = [
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/[^/]+\/clusters\/[^/]+$/, 'clusters.get'],
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/-\/clusters$/, 'clusters.list'],
  ['oauth2', /^POST \/token$/, 'token'],
  ['sts', /^POST \/v1\/token$/, 'token'],
  ['iamcredentials', /^POST \/v1\/projects\/-\/serviceAccounts\/[^/]+:generateAccessToken$/, 'generateAccessToken'],
  ['metadata', /^GET \/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/, 'token'],
  // Google's clients differ in what they put in front of /b.
  ['storage', /^GET (\/storage\/v1)?\/b$/, 'buckets.list'],
  ['storage', /^POST (\/storage\/v1)?\/b$/, 'buckets.create'],
  ['storage', /^GET (\/storage\/v1)?\/b\/[^/]+$/, 'buckets.get'],
  ['storage', /^GET (\/storage\/v1)?\/b\/[^/]+\/o$/, 'objects.list'],
  ['storage', /^GET (\/download)?(\/storage\/v1)?\/b\/[^/]+\/o\/.+$/, 'objects.get'],
  ['storage', /^DELETE (\/storage\/v1)?\/b\/[^/]+\/o\/.+$/, 'objects.delete'],
  ['storage', /^(POST|PUT) (\/resumable)?\/upload\/storage\/v1\/b\/[^/]+\/o$/, 'objects.create'],
];

export async function readCall(request: Request): Promise<GcpCall> {
  const content = new Uint8Array(await request.arrayBuffer());
  const call = restCallOf(request, { hosts: HOSTS, actions: ACTIONS });
  // What is stored is nobody's form.
  const text = call.service === 'storage' ? '' : Buffer.from(content).toString();
  const isJson = text !== '' && request.headers.get('content-type') === 'application/json';
  return { ...call, body: isJson ? JSON.parse(text) : parametersOf(request, text), content };
}
