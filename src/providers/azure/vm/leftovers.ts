// Interfaces, addresses and disks go with their machine. Where one stays behind, it is listed as a machine that failed,
// under the name of the machine that it was of: whoever deletes that deletes it, step by step.
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { askBeside } from '#rest/beside.ts';
import { finished, type Progress } from '#rest/retry.ts';
import { DISK_VERSION, NETWORK_VERSION, type Operation, type Part } from './api.ts';
import type { Group, Leftover, Snapshot } from './group.ts';
import { machineNameOf, markOf } from './marks.ts';

const LOOK_EVERY_MS = 5 * MINUTE_MS;
// A machine that is being made has its interface before it is listed itself.
const LEFT_AFTER_MS = 4 * MINUTE_MS;
const REMOVED_WITHIN_MS = 30_000;

interface PartKind {
  readonly kind: Leftover['kind'];
  readonly type: string;
  readonly apiVersion: string;
  /** Whether nothing holds it, apart from what is free itself. */
  isFree(part: Part, free: ReadonlyMap<string, Leftover>): boolean;
}

/** Of an address: whether an interface has it that stays. */
function isAllocated({ properties }: Part, free: ReadonlyMap<string, Leftover>): boolean {
  const [holder] = (properties?.ipConfiguration?.id ?? '').toLowerCase().split('/ipconfigurations/');
  return holder !== '' && ![...free.keys()].some((id) => id.toLowerCase() === holder);
}

// In the order in which they can be deleted.
const PARTS: readonly PartKind[] = [
  {
    kind: 'interface',
    type: 'Microsoft.Network/networkInterfaces',
    apiVersion: NETWORK_VERSION,
    isFree: ({ properties }) => !properties?.virtualMachine,
  },
  {
    kind: 'address',
    type: 'Microsoft.Network/publicIPAddresses',
    apiVersion: NETWORK_VERSION,
    isFree: (part, free) => !isAllocated(part, free),
  },
  { kind: 'disk', type: 'Microsoft.Compute/disks', apiVersion: DISK_VERSION, isFree: ({ managedBy }) => !managedBy },
];

async function partsLeft(group: Group, { vms }: Snapshot, signal: AbortSignal): Promise<Map<string, Leftover>> {
  const { arm, cluster, path, promised, leftovers } = group;
  const nowMs = arm.clock.monotonic();
  const found = new Map<string, Leftover>();
  for (const { kind, type, apiVersion, isFree } of PARTS) {
    const parts = await arm.all<Part>({ path: `${path}/providers/${type}`, apiVersion }, signal);
    for (const part of parts) {
      const name = machineNameOf(part);
      if (markOf(part)?.cluster !== cluster || name === undefined || vms.has(name) || promised.has(name)) continue;
      if (isFree(part, found))
        found.set(part.id, { kind, part, firstSeenMs: leftovers.get(part.id)?.firstSeenMs ?? nowMs });
    }
  }
  return found;
}

/** Looks for parts without a machine, now and then. */
export async function findLeftovers(group: Group, snapshot: Snapshot, signal: AbortSignal): Promise<void> {
  const nowMs = group.arm.clock.monotonic();
  if (nowMs - group.leftoversLookedMs < LOOK_EVERY_MS) return;
  group.leftoversLookedMs = nowMs;
  await askBeside({ log: group.log, signal, warning: 'cannot look for parts of deleted machines' }, async () => {
    group.leftovers = await partsLeft(group, snapshot, signal);
  });
}

const isDue = ({ firstSeenMs }: Leftover, nowMs: number): boolean => nowMs - firstSeenMs >= LEFT_AFTER_MS;

/** The machines that are listed for what they left behind. */
export function leftMachines({ leftovers, arm }: Group, isListed: (name: string) => boolean): Machine[] {
  const nowMs = arm.clock.monotonic();
  const machines = new Map<string, Machine>();
  for (const left of leftovers.values()) {
    const [name, mark] = [machineNameOf(left.part), markOf(left.part)];
    if (name === undefined || !mark || isListed(name) || !isDue(left, nowMs)) continue;
    machines.set(name, { name, mark, createdAt: arm.clock.now() - (nowMs - left.firstSeenMs), state: 'failed' });
  }
  return [...machines.values()];
}

async function removePart(group: Group, { kind, part }: Leftover, signal: AbortSignal): Promise<void> {
  const { arm } = group;
  const { type, apiVersion } = PARTS.find((one) => one.kind === kind) as PartKind;
  let operation: string | undefined;
  const heard = (answer: Response): void => {
    operation = answer.headers.get('azure-asyncoperation') ?? undefined;
  };
  const path = `${group.path}/providers/${type}/${encodeURIComponent(part.name)}`;
  try {
    await arm.ask({ method: 'DELETE', path, apiVersion, heard }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
  }
  const url = operation;
  if (url === undefined) return;
  // An address can be deleted only once its interface is gone.
  const what = `The deletion of ${part.name}`;
  const look = async (): Promise<Progress<string>> => {
    const { status } = await arm.askAt<Operation>(url, signal);
    return /^inprogress$/i.test(status) ? {} : { done: status };
  };
  await finished({ clock: arm.clock, signal, what, withinMs: REMOVED_WITHIN_MS }, look);
}

/** Deletes what a machine left behind: first the interface, then the address and the disk. */
export async function removeLeftovers(group: Group, name: string, signal: AbortSignal): Promise<void> {
  const own = [...group.leftovers.values()].filter(({ part }) => machineNameOf(part) === name);
  for (const { kind } of PARTS) {
    for (const left of own.filter((one) => one.kind === kind)) {
      await removePart(group, left, signal);
      group.leftovers = new Map([...group.leftovers].filter(([id]) => id !== left.part.id));
    }
  }
}
