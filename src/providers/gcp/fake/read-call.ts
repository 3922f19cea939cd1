import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

type Service =
  | 'container'
  | 'compute'
  | 'run'
  | 'oauth2'
  | 'sts'
  | 'iamcredentials'
  | 'metadata'
  | 'workload'
  | 'storage';

/** A request as the wire has it; its action is `container.clusters.get`, `oauth2.token` and so on. */
export interface GcpCall extends RestCall<Service> {
  /** The query and the form, or the JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, string>>;
  /** What was sent, as it came. */
  readonly content: Uint8Array<ArrayBuffer>;
}

const HOSTS: RestActions<Service>['hosts'] = {
  'container.googleapis.com': 'container',
  'compute.googleapis.com': 'compute',
  'run.googleapis.com': 'run',
  'oauth2.googleapis.com': 'oauth2',
  'sts.googleapis.com': 'sts',
  'iamcredentials.googleapis.com': 'iamcredentials',
  'metadata.google.internal': 'metadata',
  'workload.test': 'workload',
  'storage.googleapis.com': 'storage',
};

/** A call of Compute Engine, in a zone, a region or for the whole project. */
function compute(method: string, path: string, action: string): RestActions<Service>['actions'][number] {
  const place = '(?:(?:zones|regions)/[^/]+|global|aggregated)';
  const pattern = path.replace('@', place).replaceAll('*', '[^/]+');
  return ['compute', new RegExp(`^${method} /compute/v1/projects/[^/]+/${pattern}$`), action];
}

/** A call of Cloud Run, in a region. */
function run(method: string, path: string, action: string): RestActions<Service>['actions'][number] {
  const pattern = path.replaceAll('*', '[^/]+');
  return ['run', new RegExp(`^${method} /v2/projects/[^/]+/locations/[^/]+/${pattern}$`), action];
}

const POOLS = '/v1/projects/[^/]+/locations/[^/]+/clusters/[^/]+/nodePools';
const RESIZE_REQUESTS = 'instanceGroupManagerResizeRequests';

/** All that the fake answers. */
export const GCP_ACTIONS: RestActions<Service>['actions'] = [
  compute('GET', 'zones', 'zones.list'),
  compute('GET', 'regions', 'regions.list'),
  compute('GET', '@/machineTypes', 'machineTypes.list'),
  compute('GET', '@/machineTypes/*', 'machineTypes.get'),
  compute('GET', '@/instanceTemplates/*', 'instanceTemplates.get'),
  compute('POST', 'global/instanceTemplates', 'instanceTemplates.insert'),
  compute('DELETE', 'global/instanceTemplates/*', 'instanceTemplates.delete'),
  compute('GET', '@/operations/*', 'operations.get'),
  compute('POST', '@/operations/*/wait', 'operations.wait'),
  compute('GET', 'aggregated/instanceGroupManagers', 'instanceGroupManagers.aggregatedList'),
  compute('GET', '@/instanceGroupManagers', 'instanceGroupManagers.list'),
  compute('GET', '@/instanceGroupManagers/*', 'instanceGroupManagers.get'),
  compute('POST', '@/instanceGroupManagers', 'instanceGroupManagers.insert'),
  compute('DELETE', '@/instanceGroupManagers/*', 'instanceGroupManagers.delete'),
  compute('GET', '@/instanceGroupManagers/*/resizeRequests', `${RESIZE_REQUESTS}.list`),
  compute('POST', '@/instanceGroupManagers/*/resizeRequests', `${RESIZE_REQUESTS}.insert`),
  compute('GET', '@/instanceGroupManagers/*/resizeRequests/*', `${RESIZE_REQUESTS}.get`),
  compute('DELETE', '@/instanceGroupManagers/*/resizeRequests/*', `${RESIZE_REQUESTS}.delete`),
  compute('POST', '@/instanceGroupManagers/*/resizeRequests/*/cancel', `${RESIZE_REQUESTS}.cancel`),
  compute('POST', '@/instanceGroupManagers/*/listManagedInstances', 'instanceGroupManagers.listManagedInstances'),
  compute('POST', '@/instanceGroupManagers/*/createInstances', 'instanceGroupManagers.createInstances'),
  compute('POST', '@/instanceGroupManagers/*/deleteInstances', 'instanceGroupManagers.deleteInstances'),
  compute('GET', 'aggregated/instances', 'instances.aggregatedList'),
  compute('GET', 'zones/*/instances', 'instances.list'),
  compute('GET', 'zones/*/instances/*', 'instances.get'),
  compute('DELETE', 'zones/*/instances/*', 'instances.delete'),
  compute('POST', 'zones/*/instances/bulkInsert', 'instances.bulkInsert'),
  compute('POST', 'zones/*/instances/*/stop', 'instances.stop'),
  compute('POST', 'zones/*/instances/*/start', 'instances.start'),
  compute('GET', 'global/images', 'images.list'),
  compute('GET', 'global/images/family/*', 'images.getFromFamily'),
  compute('GET', 'global/images/*', 'images.get'),
  compute('POST', 'global/images', 'images.insert'),
  compute('DELETE', 'global/images/*', 'images.delete'),
  compute('GET', 'aggregated/disks', 'disks.aggregatedList'),
  compute('DELETE', 'zones/*/disks/*', 'disks.delete'),
  run('GET', 'services', 'services.list'),
  run('POST', 'services', 'services.create'),
  run('GET', 'services/*', 'services.get'),
  run('DELETE', 'services/*', 'services.delete'),
  run('GET', 'services/*/revisions', 'services.revisions.list'),
  run('GET', 'services/*/revisions/*', 'services.revisions.get'),
  run('GET', 'operations/*', 'operations.get'),
  run('POST', 'operations/*:wait', 'operations.wait'),
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/[^/]+\/clusters\/[^/]+$/, 'clusters.get'],
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/-\/clusters$/, 'clusters.list'],
  ['container', /^GET \/v1\/projects\/[^/]+\/locations\/[^/]+\/operations\/[^/]+$/, 'operations.get'],
  ['container', new RegExp(`^GET ${POOLS}$`), 'clusters.nodePools.list'],
  ['container', new RegExp(`^POST ${POOLS}$`), 'clusters.nodePools.create'],
  ['container', new RegExp(`^GET ${POOLS}/[^/]+$`), 'clusters.nodePools.get'],
  ['container', new RegExp(`^DELETE ${POOLS}/[^/]+$`), 'clusters.nodePools.delete'],
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
  const call = restCallOf(request, { hosts: HOSTS, actions: GCP_ACTIONS });
  // What is stored is nobody's form.
  const text = call.service === 'storage' ? '' : Buffer.from(content).toString();
  const isJson = text !== '' && request.headers.get('content-type')?.startsWith('application/json');
  const query = parametersOf(request, '');
  return { ...call, query, body: isJson ? JSON.parse(text) : parametersOf(request, text), content };
}
