import { Fault } from '#core/fault.ts';
import type { Backend, Machine } from '#core/provider.ts';
import { COMPUTE_VERSION, type VirtualMachine } from './api.ts';
import { findVm, type Group, listVms, type Vms, vmPath } from './group.ts';
import { removeLeftovers } from './leftovers.ts';
import { hasOwnNetwork, markOf, stateOf } from './marks.ts';
import { isGoneSoon, removeNetwork } from './own-network.ts';

// Marks do not change, and names are never used again: a listing of this age still tells whose a machine is.
const FRESH_MS = 10_000;

export function removerOf(group: Group): Backend['delete'] {
  const { arm, cluster } = group;

  async function removeVm({ name }: VirtualMachine, signal: AbortSignal): Promise<void> {
    const query = { forceDeletion: 'true' };
    const request = { method: 'DELETE', path: vmPath(group, name), apiVersion: COMPUTE_VERSION, query } as const;
    await arm.ask(request, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'missing') throw thrown;
    });
  }

  /** The machine is gone; what was made along with it may be left. */
  async function removeRest(name: string, vms: Vms, signal: AbortSignal): Promise<void> {
    await removeLeftovers(group, name, { vms, signal });
    try {
      await removeNetwork(group, name, signal);
    } catch (thrown) {
      // An interface that has stayed holds its network: a look of before may not know of it.
      await removeLeftovers(group, name, { vms, signal }, 0);
      throw thrown;
    }
  }

  async function removeOne({ name, mark }: Machine, vms: Vms, signal: AbortSignal): Promise<void> {
    const refusal = new Fault('denied', `${name} is not a machine of this cluster.`);
    if (mark?.cluster !== cluster) throw refusal;
    // A listing may not show it yet, or no longer.
    const vm = vms.get(name) ?? (await findVm(group, name, signal));
    if (!vm) return removeRest(name, vms, signal);
    if (markOf(vm)?.cluster !== cluster) throw refusal;
    if (stateOf(vm) !== 'deleting') await removeVm(vm, signal);
    if (!hasOwnNetwork(vm)) return;
    // From now on listings show its network where the machine is gone.
    group.seen.ownNetworks.add(name);
    if (await isGoneSoon(group, name, signal)) await removeNetwork(group, name, signal);
  }

  return async (machines, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const vms = await listVms(group, FRESH_MS, signal);
    const outcomes = machines.map((machine) =>
      removeOne(machine, vms, signal).then(
        () => ({ name: machine.name }),
        (thrown) => ({ name: machine.name, fault: Fault.from(thrown) }),
      ),
    );
    return Promise.all(outcomes);
  };
}
