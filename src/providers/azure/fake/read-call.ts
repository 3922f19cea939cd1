import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

type Service = 'management' | 'entra' | 'imds' | 'appConfiguration' | 'prices';

/** A request as the wire has it; its action is `management.listClusterUserCredential`, `entra.token` and so on. */
export interface AzureCall extends RestCall<Service> {
  /** Of the service, also where all of them are served at one address. */
  readonly host: string;
  /** The query and the form. */
  readonly params: Readonly<Record<string, string>>;
  /** What was sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** As it came. */
  readonly sent: {
    readonly method: string;
    readonly host: string;
    readonly pathAndQuery: string;
    readonly headers: Headers;
    readonly text: string;
  };
}

const MANAGEMENT = 'management.azure.com';
const ENTRA = 'login.microsoftonline.com';
const METADATA = '169.254.169.254';
const PRICES = 'prices.azure.com';
const STORES = '.azconfig.io';
/** The only store where all services are at one address. */
export const ONLY_STORE = 'simulated';

/** All that the fake answers. */
export const AZURE_ACTIONS: RestActions<Service>['actions'] = [
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
  ['management', /^PUT \/.+\/virtualMachines\/[^/]+$/i, 'vmPut'],
  ['management', /^GET \/.+\/virtualMachines\/[^/]+$/i, 'vmGet'],
  ['management', /^GET \/.+\/virtualMachines\/[^/]+\/instanceView$/i, 'vmView'],
  ['management', /^POST \/.+\/virtualMachines\/[^/]+\/simulateEviction$/i, 'vmEvict'],
  ['management', /^DELETE \/.+\/virtualMachines\/[^/]+$/i, 'vmDelete'],
  ['management', /^GET \/.+\/virtualMachineScaleSets\/[^/]+\/virtualMachines$/i, 'setVmList'],
  ['management', /^GET \/.+\/virtualMachines$/i, 'vmList'],
  ['management', /^GET \/.+\/locations\/[^/]+\/operations\/[^/]+$/i, 'operation'],
  ['management', /^PUT \/.+\/(virtualNetworks|networkSecurityGroups)\/[^/]+$/i, 'partPut'],
  ['management', /^GET \/.+\/(virtualNetworks|networkSecurityGroups)\/[^/]+$/i, 'partGet'],
  [
    'management',
    /^GET \/.+\/(networkInterfaces|publicIPAddresses|disks|virtualNetworks|networkSecurityGroups)$/i,
    'partList',
  ],
  [
    'management',
    /^DELETE \/.+\/(networkInterfaces|publicIPAddresses|disks|virtualNetworks|networkSecurityGroups)\/[^/]+$/i,
    'partDelete',
  ],
  ['management', /^PUT \/.+\/virtualMachineScaleSets\/[^/]+$/i, 'setPut'],
  ['management', /^GET \/.+\/virtualMachineScaleSets\/[^/]+$/i, 'setGet'],
  ['management', /^DELETE \/.+\/virtualMachineScaleSets\/[^/]+$/i, 'setDelete'],
  ['management', /^GET \/.+\/virtualMachineScaleSets$/i, 'setList'],
  ['management', /^PUT \/subscriptions\/[^/]+\/resourcegroups\/[^/]+$/i, 'groupPut'],
  ['management', /^GET \/subscriptions\/[^/]+\/resourcegroups$/i, 'groupList'],
  ['management', /^DELETE \/subscriptions\/[^/]+\/resourcegroups\/[^/]+$/i, 'groupDelete'],
  ['management', /^PUT \/.+\/Microsoft.Compute\/images\/[^/]+$/i, 'imagePut'],
  ['management', /^GET \/.+\/Microsoft.Compute\/images$/i, 'imageList'],
  ['management', /^DELETE \/.+\/Microsoft.Compute\/images\/[^/]+$/i, 'imageDelete'],
  ['management', /^GET \/.+\/galleries\/[^/]+\/images\/[^/]+\/versions$/i, 'versionList'],
  ['management', /^GET \/.+\/galleries\/[^/]+\/images\/[^/]+\/versions\/[^/]+$/i, 'versionGet'],
  ['management', /^PUT \/.+\/galleries\/[^/]+\/images\/[^/]+\/versions\/[^/]+$/i, 'versionPut'],
  ['management', /^DELETE \/.+\/galleries\/[^/]+\/images\/[^/]+\/versions\/[^/]+$/i, 'versionDelete'],
  ['management', /^PUT \/.+\/containerGroups\/[^/]+$/i, 'containerPut'],
  ['management', /^GET \/.+\/containerGroups\/[^/]+$/i, 'containerGet'],
  ['management', /^DELETE \/.+\/containerGroups\/[^/]+$/i, 'containerDelete'],
  ['management', /^GET \/.+\/containerGroups$/i, 'containerList'],
  ['management', /^POST \/.+\/containerGroups\/[^/]+\/stop$/i, 'containerStop'],
  ['management', /^GET \/.+\/containerGroups\/[^/]+\/containers\/[^/]+\/logs$/i, 'containerLogs'],
  ['management', /^GET \/subscriptions\/[^/]+\/providers\/Microsoft.Compute\/skus$/i, 'skus'],
  ['management', /^GET \/subscriptions\/[^/]+\/locations$/i, 'locations'],
  ['management', /^GET \/.+\/autoscalesettings$/i, 'autoscaleList'],
  ['prices', /^GET \/api\/retail\/prices$/, 'list'],
  ['entra', /^POST \/[^/]+\/oauth2\/v2.0\/token$/, 'token'],
  ['imds', /^GET \/metadata\/identity\/oauth2\/token$/, 'token'],
  ['appConfiguration', /^GET \/kv$/, 'kvList'],
  ['appConfiguration', /^GET \/kv\/.+$/, 'kvGet'],
  ['appConfiguration', /^PUT \/kv\/.+$/, 'kvPut'],
  ['appConfiguration', /^DELETE \/kv\/.+$/, 'kvDelete'],
];

/** On loopback only the path tells who is meant. */
function hostOf({ host, hostname, pathname }: URL): string {
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return host;
  if (/^\/kv(\/|$)/.test(pathname)) return `${ONLY_STORE}${STORES}`;
  if (pathname.startsWith('/metadata/')) return METADATA;
  return pathname.startsWith('/subscriptions/') ? MANAGEMENT : ENTRA;
}

const SERVICES: Readonly<Record<string, Service>> = {
  [MANAGEMENT]: 'management',
  [ENTRA]: 'entra',
  [METADATA]: 'imds',
  [PRICES]: 'prices',
};

function serviceAt(host: string): Service | undefined {
  if (host.endsWith(STORES)) return 'appConfiguration';
  return SERVICES[host];
}

function parsed(text: string, type: string | null): Record<string, unknown> {
  if (text === '' || !type?.includes('json')) return {};
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export async function readCall(request: Request): Promise<AzureCall> {
  const url = new URL(request.url);
  const host = hostOf(url);
  const service = serviceAt(host);
  const text = await request.text();
  const type = request.headers.get('content-type');
  const call = restCallOf(request, { hosts: service ? { [url.host]: service } : {}, actions: AZURE_ACTIONS });
  return {
    ...call,
    host,
    params: parametersOf(request, type?.includes('json') ? '' : text),
    body: parsed(text, type),
    sent: {
      method: request.method,
      host: url.host,
      pathAndQuery: `${url.pathname}${url.search}`,
      headers: request.headers,
      text,
    },
  };
}
