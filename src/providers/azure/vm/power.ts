// Whether computers are switched off. Listings of machines do not say so, and a machine that shut itself down is billed on.
import { SECOND_MS } from '#core/clock.ts';
import type { Machine } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { COMPUTE_VERSION, type VirtualMachine } from './api.ts';
import type { Group } from './group.ts';
import { markOf, stateOf } from './marks.ts';

// The view of a machine costs Azure more than the machine: it is asked for seldom, and only where there are computers.
const HOLDS_MS = 20 * SECOND_MS;

const STATES: Readonly<Record<string, Machine['state']>> = {
  stopping: 'suspending',
  deallocating: 'suspending',
  stopped: 'suspended',
  deallocated: 'suspended',
};

function powerOf({ properties }: VirtualMachine): Machine['state'] | undefined {
  for (const { code = '' } of properties.instanceView?.statuses ?? []) {
    const [, word] = /^PowerState\/(\w+)$/i.exec(code) ?? [];
    if (word !== undefined) return STATES[word.toLowerCase()];
  }
  return undefined;
}

const isComputer = (vm: VirtualMachine): boolean => stateOf(vm) === 'running' && markOf(vm)?.use === 'computer';

/** The states of the computers that do not run, by the ids of their machines. */
export async function powerStates(
  group: Group,
  vms: readonly VirtualMachine[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Machine['state']>> {
  const states = new Map<string, Machine['state']>();
  if (!vms.some(isComputer)) return states;
  const { arm, cloud, path } = group;
  await bestEffort({ log: group.log, signal, warning: 'cannot read whether computers are stopped' }, async () => {
    const viewed = await arm.keep(`power ${cloud}`, HOLDS_MS, () => {
      const query = { $expand: 'instanceView' };
      const listing = {
        path: `${path}/providers/Microsoft.Compute/virtualMachines`,
        apiVersion: COMPUTE_VERSION,
        query,
      };
      return arm.all<VirtualMachine>(listing, signal);
    });
    for (const vm of viewed) {
      const state = isComputer(vm) ? powerOf(vm) : undefined;
      if (state) states.set(vm.properties.vmId, state);
    }
  });
  return states;
}
