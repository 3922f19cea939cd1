// Azure agrees first and finds out afterwards: the reason stands in the operation, or in the view of the machine.
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { askBeside } from '#rest/beside.ts';
import { dueOf, followLate, type Pace } from '#rest/follow-late.ts';
import { faultOfOperation } from '../azure-fault.ts';
import { COMPUTE_VERSION, type Operation, type Status, type VirtualMachine } from './api.ts';
import { type Group, type Promised, type Snapshot, vmPath } from './group.ts';
import { stateOf } from './marks.ts';

const AGAIN_MS = 60_000;
const FORGET_MS = 3_600_000;
const SHOW_FAILED_MS = 600_000;
// Listings must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 20;
// Five reads a second of the 25 that all share.
const PACE: Pace = { soonestMs: 2_000, latestMs: 30_000, most: 10 };

const FAILED = /^ProvisioningState\/failed\/(.+)$/i;
const RUNNING = /^PowerState\/(running|starting)$/i;

interface Looking {
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

const troubleOf = ({ kind, message }: Fault): Pick<Machine, 'state' | 'trouble'> => ({
  state: 'failed',
  trouble: { kind, message, final: true },
});

const isFailed = (operation: Operation | undefined): boolean => /^(failed|canceled)$/i.test(operation?.status ?? '');

/** The operation of a promise; one that is over is asked for once. */
async function operationOf({ arm }: Group, promise: Promised, signal: AbortSignal): Promise<Operation | undefined> {
  const { operation, ended } = promise;
  if (operation === undefined || ended) return ended;
  promise.checkedMs = arm.clock.monotonic();
  const found = await arm.askAt<Operation>(operation, signal).catch((thrown): Operation => {
    // Azure forgets operations after some hours.
    if (Fault.from(thrown).kind === 'missing') return { status: 'Forgotten' };
    throw thrown;
  });
  if (!/^(inprogress|accepted|running|creating)$/i.test(found.status)) promise.ended = found;
  return found;
}

function reasonIn(statuses: readonly Status[], what: string): Fault {
  for (const { code = '', message = '' } of statuses) {
    const found = FAILED.exec(code)?.[1];
    if (found !== undefined) return faultOfOperation({ code: found, message }, what);
  }
  return faultOfOperation(undefined, what);
}

/**
 * A machine that is shown as failed. One whose update failed, an extension say, still runs: it is not given up.
 */
async function judge(group: Group, vm: VirtualMachine, signal: AbortSignal): Promise<Partial<Machine>> {
  const what = `The creation of ${vm.name}`;
  const promise = group.promised.get(vm.name);
  const operation = promise && (await operationOf(group, promise, signal));
  if (isFailed(operation)) return troubleOf(faultOfOperation(operation?.error, what));
  const path = `${vmPath(group, vm.name)}/instanceView`;
  const view = await group.arm.ask<VirtualMachine['properties']['instanceView']>(
    { path, apiVersion: COMPUTE_VERSION },
    signal,
  );
  const statuses = view?.statuses ?? [];
  if (statuses.some(({ code = '' }) => RUNNING.test(code))) return { state: 'running' };
  return troubleOf(reasonIn(statuses, what));
}

async function judgeFailed(group: Group, { snapshot, signal }: Looking): Promise<void> {
  const { reasons, arm } = group;
  const nowMs = arm.clock.monotonic();
  const ids = new Set([...snapshot.vms.values()].map(({ properties }) => properties.vmId));
  for (const id of reasons.keys()) if (!ids.has(id)) reasons.delete(id);
  const failed = [...snapshot.vms.values()].filter((vm) => stateOf(vm) === 'failed');
  const due = failed.filter(({ properties }) => {
    const known = reasons.get(properties.vmId);
    return !known || (known.machine.state === 'running' && nowMs - known.atMs >= AGAIN_MS);
  });
  for (const vm of due.slice(0, MOST_LOOKS)) {
    try {
      reasons.set(vm.properties.vmId, { machine: await judge(group, vm, signal), atMs: nowMs });
    } catch (thrown) {
      // It went while we looked.
      if (Fault.from(thrown).kind !== 'missing') throw thrown;
    }
  }
}

/** What was promised, is not listed, and failed: nothing else tells of it. */
async function findVanished(group: Group, { snapshot, signal }: Looking): Promise<void> {
  const { promised, failed, arm } = group;
  await lookAtOperations(group, { signal, isWanted: (name) => !snapshot.vms.has(name) });
  for (const [name, { mark, atMs, ended }] of promised) {
    if (!isFailed(ended) || snapshot.vms.has(name)) continue;
    const createdAt = arm.clock.now() - (arm.clock.monotonic() - atMs);
    const { state, trouble } = troubleOf(faultOfOperation(ended?.error, `The creation of ${name}`));
    failed.set(name, { name, mark, createdAt, state, trouble });
    promised.delete(name);
  }
}

interface Sought {
  readonly signal: AbortSignal;
  isWanted?(name: string): boolean;
}

/** Looks at the operations whose turn it is; answers how many are over. */
async function lookAtOperations(group: Group, { signal, isWanted = () => true }: Sought): Promise<number> {
  const running = [...group.promised].flatMap(([name, one]) =>
    one.operation !== undefined && !one.ended && isWanted(name) ? [one] : [],
  );
  const due = dueOf(running, group.arm.clock.monotonic(), PACE);
  await Promise.all(due.map((one) => operationOf(group, one, signal)));
  return due.filter(({ ended }) => ended).length;
}

/** Hints as soon as an operation is over, so that a refusal is heard of long before the next listing. */
export function followOperations(group: Group, changed: () => void, signal: AbortSignal): void {
  const { promised, arm } = group;
  const follower = followLate({
    clock: arm.clock,
    signal,
    everyMs: PACE.soonestMs,
    isNeeded: () => [...promised.values()].some(({ operation, ended }) => operation !== undefined && !ended),
    look: (ending) => lookAtOperations(group, { signal: ending }),
    changed,
  });
  group.follower = follower;
  signal.addEventListener('abort', () => {
    if (group.follower === follower) group.follower = undefined;
  });
}

/** Forgets promises that were kept, and failures that nobody asks about. */
function settle({ promised, failed, arm }: Group, { vms }: Snapshot): void {
  const { clock } = arm;
  for (const vm of vms.values()) if (stateOf(vm) === 'running') promised.delete(vm.name);
  for (const [name, { atMs }] of promised) if (clock.monotonic() - atMs > FORGET_MS) promised.delete(name);
  for (const [name, { createdAt }] of failed)
    if (vms.has(name) || clock.now() - createdAt > SHOW_FAILED_MS) failed.delete(name);
}

/** Looks for the reasons of machines that failed or never came. */
export async function findFailures(group: Group, looking: Looking): Promise<void> {
  settle(group, looking.snapshot);
  const beside = { log: group.log, signal: looking.signal, warning: 'cannot find out why machines failed' };
  await askBeside(beside, async () => {
    await judgeFailed(group, looking);
    await findVanished(group, looking);
  });
}
