import type { Machine, MachineEndpoint } from '#core/provider.ts';
import type { Instance } from '../compute/api.ts';
import { portIn, readLabels } from '../compute/marks.ts';
import { endOf } from './run-time.ts';

const STATES: Readonly<Record<string, Machine['state']>> = {
  PENDING: 'creating',
  PROVISIONING: 'creating',
  STAGING: 'creating',
  RUNNING: 'running',
  REPAIRING: 'running',
  PENDING_STOP: 'suspending',
  // Also while it is being deleted.
  STOPPING: 'suspending',
  SUSPENDING: 'suspending',
  DEPROVISIONING: 'deleting',
  STOPPED: 'suspended',
  TERMINATED: 'suspended',
  SUSPENDED: 'suspended',
};

/** Where its port is reached: from anywhere first, then from its own network. */
function endpointsOf(instance: Instance): MachineEndpoint[] {
  const { networkInterfaces = [] } = instance;
  const port = portIn(instance);
  if (port === undefined) return [];
  const outer = networkInterfaces.flatMap(({ accessConfigs = [] }) => accessConfigs.map(({ natIP }) => natIP));
  const inner = networkInterfaces.map(({ networkIP }) => networkIP);
  return [...outer, ...inner].flatMap((host) => (host ? [{ host, port }] : []));
}

/** An instance as the rest of the program sees it; nothing where it bears no whole mark. */
export function machineOf(instance: Instance): Machine | undefined {
  const mark = readLabels(instance.labels);
  if (!mark) return undefined;
  const { id, name, status, creationTimestamp, networkInterfaces = [] } = instance;
  const addresses = networkInterfaces.flatMap(({ networkIP, accessConfigs = [] }) =>
    [networkIP, ...accessConfigs.map(({ natIP }) => natIP)].filter((each) => each !== undefined),
  );
  const [endpoints, endsAt] = [endpointsOf(instance), endOf(instance)];
  return {
    name,
    mark,
    id,
    createdAt: Date.parse(creationTimestamp),
    state: STATES[status] ?? 'creating',
    ...(addresses.length > 0 && { addresses }),
    ...(endpoints.length > 0 && { endpoints }),
    ...(endsAt !== undefined && { endsAt }),
  };
}
