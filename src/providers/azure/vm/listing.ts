import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { faultOfOperation } from '../azure-fault.ts';
import { COMPUTE_VERSION, type Status, type VirtualMachine } from './api.ts';
import { endpointsOf, learnAddresses } from './endpoints.ts';
import { type Group, listVms, vmPath } from './group.ts';
import { leftMachines } from './leftovers.ts';
import { machineOf, stateOf } from './marks.ts';
import { leftNetworks } from './own-network.ts';
import { powerStates } from './power.ts';

// Listings must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 20;

const FAILED = /^ProvisioningState\/failed\/(.+)$/i;
const RUNNING = /^PowerState\/(running|starting)$/i;

function reasonIn(statuses: readonly Status[], what: string): Fault {
  for (const { code = '', message = '' } of statuses) {
    const found = FAILED.exec(code)?.[1];
    if (found !== undefined) return faultOfOperation({ code: found, message }, what);
  }
  return faultOfOperation(undefined, what);
}

type Judged = Pick<Machine, 'state' | 'trouble'>;

/** A machine that is shown as failed. One whose update failed, an extension say, still runs: it is not given up. */
function judge(group: Group, { name, properties }: VirtualMachine, signal: AbortSignal): Promise<Judged> {
  return group.arm.keep(`view ${properties.vmId}`, MINUTE_MS, async () => {
    const request = { path: `${vmPath(group, name)}/instanceView`, apiVersion: COMPUTE_VERSION };
    const view = await group.arm.ask<VirtualMachine['properties']['instanceView']>(request, signal);
    const statuses = view?.statuses ?? [];
    if (statuses.some(({ code = '' }) => RUNNING.test(code))) return { state: 'running' };
    const { kind, message } = reasonIn(statuses, `The creation of ${name}`);
    return { state: 'failed', trouble: { kind, message, final: true } };
  });
}

async function judgeAll(
  group: Group,
  failed: readonly VirtualMachine[],
  signal: AbortSignal,
): Promise<ReadonlyMap<VirtualMachine, Judged>> {
  const judged = new Map<VirtualMachine, Judged>();
  const beside = { log: group.log, signal, warning: 'cannot find out why machines failed' };
  await bestEffort(beside, async () => {
    for (const vm of failed.slice(0, MOST_LOOKS)) {
      try {
        judged.set(vm, await judge(group, vm, signal));
      } catch (thrown) {
        // It went while we looked.
        if (Fault.from(thrown).kind !== 'missing') throw thrown;
      }
    }
  });
  return judged;
}

export async function listMachines(group: Group, signal: AbortSignal): Promise<readonly Machine[]> {
  const vms = await listVms(group, 0, signal);
  const failed = [...vms.values()].filter((vm) => stateOf(vm) === 'failed');
  const judged = await judgeAll(group, failed, signal);
  await learnAddresses(group, [...vms.values()], signal);
  const power = await powerStates(group, [...vms.values()], signal);
  const machines = [...vms.values()].flatMap((vm) => {
    const machine = machineOf(vm);
    const endpoints = endpointsOf(group, vm);
    const stopped = power.get(vm.properties.vmId);
    // What became of one that failed may not be known yet: until then it is on its way.
    const state = machine?.state === 'failed' ? (judged.get(vm) ?? { state: 'creating' as const }) : {};
    if (!machine) return [];
    return [{ ...machine, ...(stopped && { state: stopped }), ...state, ...(endpoints.length > 0 && { endpoints }) }];
  });
  const networks = await leftNetworks(group, vms, signal);
  const named = new Set(networks.map(({ name }) => name));
  const parts = (await leftMachines(group, vms, signal)).filter(({ name }) => !named.has(name));
  return [...machines, ...networks, ...parts];
}
