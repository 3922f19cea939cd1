import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { COMPUTE_VERSION, type VirtualMachine } from './api.ts';
import { findVm, type Group, look, type Snapshot, vmPath } from './group.ts';
import { removeLeftovers } from './leftovers.ts';
import { markOf, stateOf } from './marks.ts';

// Marks do not change, and names are never used again: a listing of this age still tells whose a machine is.
const FRESH_MS = 10_000;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

export function removerOf(group: Group) {
  const { arm, cluster, promised, failed } = group;

  async function removeVm({ name }: VirtualMachine, signal: AbortSignal): Promise<void> {
    const query = { forceDeletion: 'true' };
    const request = { method: 'DELETE', path: vmPath(group, name), apiVersion: COMPUTE_VERSION, query } as const;
    await arm.ask(request, signal).catch((thrown) => {
      if (!isAbsent(thrown)) throw thrown;
    });
  }

  /** The machine as Azure has it; a listing may not show it yet, or no longer. */
  async function found({ name }: Machine, { vms }: Snapshot, signal: AbortSignal): Promise<VirtualMachine | undefined> {
    return vms.get(name) ?? findVm(group, name, signal);
  }

  async function removeOne(machine: Machine, snapshot: Snapshot, signal: AbortSignal): Promise<Outcome> {
    const { name } = machine;
    const refusal = { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
    if (machine.mark?.cluster !== cluster) return refusal;
    try {
      const vm = await found(machine, snapshot, signal);
      if (vm && markOf(vm)?.cluster !== cluster) return refusal;
      if (vm && stateOf(vm) !== 'deleting') await removeVm(vm, signal);
      if (!vm) await removeLeftovers(group, name, signal);
      for (const told of [promised, failed]) told.delete(name);
      return { name };
    } catch (thrown) {
      return { name, fault: Fault.from(thrown) };
    }
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const { last } = group;
    const isFresh = last !== undefined && arm.clock.monotonic() - last.startedMs <= FRESH_MS;
    const snapshot = isFresh ? last : await look(group, signal);
    return Promise.all(machines.map((machine) => removeOne(machine, snapshot, signal)));
  };
}
