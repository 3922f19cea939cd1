// Interfaces, addresses and disks go with their machine. Where one stays behind, it is listed as a machine that failed,
// under the name of the machine that it was of: whoever deletes that deletes it, step by step.
import { MINUTE_MS } from '#core/clock.ts';
import type { Machine } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { DISK_VERSION, NETWORK_VERSION, type Part } from './api.ts';
import { findVm, type Group, type Vms } from './group.ts';
import { machineNameOf, markOf } from './marks.ts';
import { removeResource } from './resource.ts';

const LOOK_EVERY_MS = 5 * MINUTE_MS;

interface PartKind {
  readonly type: string;
  readonly apiVersion: string;
  /** Whether nothing holds it, apart from what is free itself. */
  isFree(part: Part, free: ReadonlyMap<string, Leftover>): boolean;
}

/** A part without its machine: an interface, an address, a disk. */
interface Leftover {
  readonly kind: PartKind;
  readonly part: Part;
  readonly machine: Machine;
}

/** Of an address: whether an interface has it that stays. */
function isAllocated({ properties }: Part, free: ReadonlyMap<string, Leftover>): boolean {
  const [holder] = (properties?.ipConfiguration?.id ?? '').toLowerCase().split('/ipconfigurations/');
  return holder !== '' && ![...free.keys()].some((id) => id.toLowerCase() === holder);
}

// In the order in which they can be deleted.
const PARTS: readonly PartKind[] = [
  {
    type: 'Microsoft.Network/networkInterfaces',
    apiVersion: NETWORK_VERSION,
    isFree: ({ properties }) => !properties?.virtualMachine,
  },
  {
    type: 'Microsoft.Network/publicIPAddresses',
    apiVersion: NETWORK_VERSION,
    isFree: (part, free) => !isAllocated(part, free),
  },
  { type: 'Microsoft.Compute/disks', apiVersion: DISK_VERSION, isFree: ({ managedBy }) => !managedBy },
];

interface Looking {
  /** The machines that are listed. */
  readonly vms: Vms;
  readonly signal: AbortSignal;
}

/** The free parts whose machine is not listed, by their ids. */
async function freeParts(group: Group, { vms, signal }: Looking): Promise<Map<string, Leftover>> {
  const { arm, cluster, path } = group;
  const createdAt = arm.clock.now();
  const found = new Map<string, Leftover>();
  for (const kind of PARTS) {
    const { type, apiVersion, isFree } = kind;
    const parts = await arm.all<Part>({ path: `${path}/providers/${type}`, apiVersion }, signal);
    for (const part of parts) {
      const [name, mark] = [machineNameOf(part), markOf(part)];
      if (mark?.cluster !== cluster || name === undefined || vms.has(name) || !isFree(part, found)) continue;
      found.set(part.id, { kind, part, machine: { name, mark, createdAt, state: 'failed' } });
    }
  }
  return found;
}

/** Parts without a machine, in the order in which they can be deleted; looked for now and then. */
function leftoversIn(group: Group, looking: Looking, holdsMs = LOOK_EVERY_MS): Promise<readonly Leftover[]> {
  return group.arm.keep(`parts ${group.cloud}`, holdsMs, async () => {
    const found = [...(await freeParts(group, looking)).values()];
    const there = new Set<string>();
    // A machine that is being made has its parts before it is listed itself.
    for (const name of new Set(found.map(({ machine }) => machine.name)))
      if (await findVm(group, name, looking.signal)) there.add(name);
    return found.filter(({ machine }) => !there.has(machine.name));
  });
}

/** The machines that are listed for what they left behind. */
export async function leftMachines(group: Group, vms: Vms, signal: AbortSignal): Promise<Machine[]> {
  const machines = new Map<string, Machine>();
  await bestEffort({ log: group.log, signal, warning: 'cannot look for parts of deleted machines' }, async () => {
    for (const { machine } of await leftoversIn(group, { vms, signal }))
      if (!vms.has(machine.name)) machines.set(machine.name, machine);
  });
  return [...machines.values()];
}

/** Deletes what a machine left behind: first the interface, then the address and the disk. */
export async function removeLeftovers(
  group: Group,
  name: string,
  looking: Looking,
  holdsMs = LOOK_EVERY_MS,
): Promise<void> {
  const own = (await leftoversIn(group, looking, holdsMs)).filter(({ machine }) => machine.name === name);
  for (const { kind, part } of own) {
    const { type, apiVersion } = kind;
    await removeResource(group, { type, apiVersion, name: part.name }, looking.signal);
  }
  // The next listing must not show them.
  if (own.length > 0) await leftoversIn(group, looking, 0);
}
