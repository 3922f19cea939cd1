import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

type Service = 'management' | 'entra' | 'imds';

/** A request as the wire has it; its action is `management.listClusterUserCredential`, `entra.token` and so on. */
export interface AzureCall extends RestCall<Service> {
  /** The query and the form. */
  readonly params: Readonly<Record<string, string>>;
}

const HOSTS: RestActions<Service>['hosts'] = {
  'management.azure.com': 'management',
  'login.microsoftonline.com': 'entra',
  '169.254.169.254': 'imds',
};

const ACTIONS: RestActions<Service>['actions'] = [
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
  const params = parametersOf(request, await request.text());
  return { ...restCallOf(request, { hosts: HOSTS, actions: ACTIONS }), params };
}
