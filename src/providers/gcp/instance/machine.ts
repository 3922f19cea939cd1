import type { Machine } from '#core/provider.ts';
import type { Instance } from '../compute/api.ts';
import { readLabels } from '../compute/marks.ts';

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

/** An instance as the rest of the program sees it; nothing where it bears no whole mark. */
export function machineOf(instance: Instance): Machine | undefined {
  const mark = readLabels(instance.labels);
  if (!mark) return undefined;
  const { id, name, status, creationTimestamp, networkInterfaces = [] } = instance;
  const addresses = networkInterfaces.flatMap(({ networkIP, accessConfigs = [] }) =>
    [networkIP, ...accessConfigs.map(({ natIP }) => natIP)].filter((each) => each !== undefined),
  );
  return {
    name,
    mark,
    id,
    createdAt: Date.parse(creationTimestamp),
    state: STATES[status] ?? 'creating',
    ...(addresses.length > 0 && { addresses }),
  };
}
