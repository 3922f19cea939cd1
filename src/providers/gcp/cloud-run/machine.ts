import type { Machine, MachineEndpoint } from '#core/provider.ts';
import { lastPart } from '../compute/api.ts';
import { portIn, readLabels } from '../compute/marks.ts';
import type { Condition, Service } from './api.ts';
import { troubleOf } from './faults.ts';

const hasFailed = ({ state }: Condition): boolean => state === 'CONDITION_FAILED';

function stateOf({ deleteTime, reconciling, terminalCondition }: Service): Machine['state'] {
  if (deleteTime !== undefined) return 'deleting';
  if (terminalCondition?.state === 'CONDITION_SUCCEEDED') return 'running';
  return terminalCondition && hasFailed(terminalCondition) && !reconciling ? 'failed' : 'creating';
}

function trouble({ terminalCondition, conditions = [] }: Service, state: Machine['state']): Machine['trouble'] {
  if (state === 'failed' && terminalCondition) return troubleOf(terminalCondition, true);
  const [found] = state === 'creating' ? conditions.filter(hasFailed) : [];
  return found && troubleOf(found, false);
}

/** The port of a launch is reached at the address of its service, which ends TLS. */
function endpointsOf({ uri, labels = {} }: Service): MachineEndpoint[] {
  if (!uri || portIn({ labels }) === undefined) return [];
  const { protocol, hostname: host, port } = new URL(uri);
  const scheme = protocol === 'http:' ? 'http' : 'https';
  return [{ host, port: Number(port || (scheme === 'http' ? 80 : 443)), scheme }];
}

/**
 * A service as the rest of the program sees it; nothing where it bears no whole mark. It stays the same machine when
 * Cloud Run puts another container in place of its own.
 */
export function machineOf(service: Service): Machine | undefined {
  const mark = readLabels(service.labels);
  if (!mark) return undefined;
  const state = stateOf(service);
  const [endpoints, said] = [state === 'running' ? endpointsOf(service) : [], trouble(service, state)];
  return {
    name: lastPart(service.name),
    mark,
    id: service.uid,
    createdAt: Date.parse(service.createTime ?? '') || 0,
    state,
    ...(said && { trouble: said }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}
