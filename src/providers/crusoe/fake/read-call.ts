import { parametersOf, type RestActions, type RestCall, restCallOf } from '#fakes/rest-call.ts';

/** A request as the wire has it; its action is `crusoe.pools.get` and so on. */
export interface CrusoeCall extends RestCall<'crusoe'> {
  readonly method: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** As it was sent: what is signed. */
  readonly url: URL;
}

const PROJECT = '/v1/projects/[^/]+';
const POOLS = `${PROJECT}/kubernetes/nodepools`;
const VMS = `${PROJECT}/compute/vms`;

const action = (line: string, name: string): RestActions<'crusoe'>['actions'][number] => [
  'crusoe',
  new RegExp(`^${line}$`),
  name,
];

/** All that the fake answers. */
export const CRUSOE_ACTIONS: RestActions<'crusoe'>['actions'] = [
  action(`GET ${POOLS}`, 'pools.list'),
  action(`POST ${POOLS}`, 'pools.create'),
  action(`GET ${POOLS}/operations`, 'pools.operations'),
  action(`GET ${POOLS}/operations/[^/]+`, 'pools.operation'),
  action(`GET ${POOLS}/[^/]+/vms`, 'pools.vms'),
  action(`GET ${POOLS}/[^/]+`, 'pools.get'),
  action(`PATCH ${POOLS}/[^/]+`, 'pools.patch'),
  action(`DELETE ${POOLS}/[^/]+`, 'pools.delete'),
  action(`GET ${VMS}/types`, 'vms.types'),
  action(`GET ${VMS}/instances/[^/]+`, 'vms.get'),
  action(`DELETE ${VMS}/instances/[^/]+`, 'vms.delete'),
];

export async function readCall(request: Request): Promise<CrusoeCall> {
  const text = await request.text();
  const call = restCallOf(request, { hosts: { 'api.cloud.crusoe.ai': 'crusoe' }, actions: CRUSOE_ACTIONS });
  const body = text === '' ? undefined : JSON.parse(text);
  return { ...call, method: request.method, query: parametersOf(request, ''), body, url: new URL(request.url) };
}
