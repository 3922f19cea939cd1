// Node groups of a cloud in memory, for the suite's own tests: once right in each of two styles, and once with each mistake.
import { z } from 'zod';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { GroupRefusal, NodeGroup, NodeGroupState, NodeGroups, NodeGrowth, NodeRequest } from '#core/node-group.ts';
import { kind, type Outcome, type Trouble } from '#core/provider.ts';
import {
  livingMachines,
  type MemoryCloud,
  type MemoryCloudStyle,
  type MemoryGroup,
  type MemoryMachine,
} from './memory-node-cloud.ts';

/** What may be wrong with node groups; each must break a law of the suite. */
export interface NodeGroupsMistakes {
  readonly findsNearest?: boolean;
  readonly namesNoCandidates?: boolean;
  readonly freshIds?: boolean;
  readonly takesFirst?: boolean;
  readonly coresInTemplate?: boolean;
  readonly templateOfMachinesAlone?: boolean;
  readonly firstPageOnly?: boolean;
  readonly growsAgain?: boolean;
  readonly setsSize?: boolean;
  readonly ownNames?: boolean;
  readonly hidesStockOut?: boolean;
  readonly hidesQueue?: boolean;
  readonly hidesEnd?: boolean;
  readonly cancelKeepsSize?: boolean;
  readonly cancelFailsAgain?: boolean;
  readonly shrinksByCount?: boolean;
  readonly recreates?: boolean;
  readonly removeFailsAgain?: boolean;
  readonly lowersAgain?: boolean;
  readonly removesForeign?: boolean;
  readonly ignoresAutoscaler?: boolean;
  readonly takesOver?: boolean;
  readonly dropsFull?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly ignoresAbort?: boolean;
}

/** How its calls fare; tests change it. */
export interface MemoryMood {
  isReplyLost: boolean;
  isHanging: boolean;
  fault?: FaultKind | undefined;
  /** What changed something, as it was asked: `grow a by 3 to 5`. */
  readonly calls?: string[] | undefined;
  /** Why the cloud refuses a call that changes something, as `calls` has it; it does nothing then. */
  refuses?(call: string): Fault | undefined;
}

const CALL_MS = 10;
const COUNTLESS_MS = 10 ** 9;
const PAGE = 25;
const QUEUE = { leastMs: 600_000, mostMs: 604_800_000, mostRequests: 50 };
const NO_STOCK: Trouble = { kind: 'exhausted', reason: 'STOCKOUT', message: 'There is no capacity.', final: true };
const AUTOSCALED: GroupRefusal = {
  reason: 'GroupHasAutoscaler',
  message: 'The group has an autoscaler of its own.',
  remedy: 'Turn the autoscaler of the group off.',
};

export const providerIdOf = ({ zone }: MemoryGroup, { name }: Pick<MemoryMachine, 'name'>): string =>
  `memory://${zone}/${name}`;

/** The groups of that cloud, as one server has opened them. */
export function memoryNodeGroups(
  cloud: MemoryCloud,
  style: MemoryCloudStyle,
  mood: MemoryMood,
  mistakes: NodeGroupsMistakes = {},
): NodeGroups {
  const { clock } = cloud;
  const isNamed = style === 'names';

  /** Writes down what was asked for, and throws where it is refused. */
  function asked(text: string): void {
    mood.calls?.push(text);
    const fault = mood.refuses?.(text);
    if (fault) throw fault;
  }

  async function call<T>(signal: AbortSignal, act: () => T, writes = false): Promise<T> {
    await clock.sleep(mood.isHanging ? COUNTLESS_MS : CALL_MS, mistakes.ignoresAbort ? undefined : signal);
    if (signal.aborted && !mistakes.ignoresAbort) throw new Fault('unavailable', 'The call was given up.');
    if (mood.fault) throw new Fault(mistakes.everyFaultIsInternal ? 'internal' : mood.fault, 'The cloud fails.');
    const done = act();
    if (!writes || !mood.isReplyLost) return done;
    mood.isReplyLost = false;
    throw new Fault('unavailable', 'The answer was lost.');
  }

  function requestsOf(group: MemoryGroup): readonly NodeRequest[] {
    if (isNamed) {
      if (mistakes.hidesQueue) return [];
      return [...group.requests.values()].map(({ name, createdAt }) => ({
        id: name,
        count: 1,
        names: [name],
        state: 'waiting',
        createdAt,
      }));
    }
    const count = group.size - livingMachines(group).length;
    if (count <= 0 || mistakes.hidesStockOut) return [];
    return [{ id: `${group.id}:count`, count, state: 'failed', trouble: NO_STOCK, createdAt: clock.now() }];
  }

  function stateOf(group: MemoryGroup): NodeGroupState {
    const all = [...group.machines.values()];
    const machines = mistakes.firstPageOnly ? all.slice(0, PAGE) : all;
    const instances = machines.map(({ id, name, state, trouble, createdAt, endsAt }) => ({
      id,
      name,
      providerId: providerIdOf(group, { name }),
      state,
      trouble: mistakes.hidesStockOut ? undefined : trouble,
      createdAt,
      endsAt: mistakes.hidesEnd ? undefined : endsAt,
    }));
    const requests = requestsOf(group);
    const asked = requests.reduce((sum, { count }) => sum + count, 0);
    const { template } = group;
    const isBlank = mistakes.templateOfMachinesAlone && machines.length === 0;
    const allocatable = isBlank
      ? {}
      : { ...template.allocatable, ...(mistakes.coresInTemplate && { cpu: (template.allocatable.cpu ?? 0) / 1_000 }) };
    return {
      wanted: instances.filter(({ state }) => state !== 'deleting').length + asked,
      template: { ...template, allocatable },
      instances,
      requests,
      baseName: isNamed ? group.name : undefined,
      refusal: group.isAutoscaled && !mistakes.ignoresAutoscaler ? AUTOSCALED : undefined,
    };
  }

  function refuseAutoscaled(group: MemoryGroup): void {
    if (group.isAutoscaled && !mistakes.ignoresAutoscaler) throw new Fault('conflict', AUTOSCALED.message);
  }

  const namesIn = (group: MemoryGroup): ReadonlySet<string> =>
    new Set([...group.requests.keys(), ...[...group.machines.values()].map(({ name }) => name)]);

  /** Of a machine that is not in the group. */
  function removeAbsent(group: MemoryGroup, id: string): Outcome {
    const other = [...cloud.groups.values()].find(({ machines }) => machines.has(id));
    if (other && mistakes.removesForeign) return removeOne(other, id);
    if (other) return { name: id, fault: new Fault('invalid', `${id} is a machine of ${other.name}.`) };
    if (mistakes.lowersAgain) group.size -= 1;
    return { name: id, fault: mistakes.removeFailsAgain ? new Fault('missing', `There is no ${id}.`) : undefined };
  }

  function removeOne(group: MemoryGroup, id: string): Outcome {
    const machine = group.machines.get(id);
    if (!machine) return removeAbsent(group, id);
    if (machine.state === 'deleting') return { name: id };
    if (!mistakes.recreates) group.size -= 1;
    const victim = mistakes.shrinksByCount ? (livingMachines(group)[0] ?? machine) : machine;
    cloud.deleteMachine(group, victim);
    return { name: id };
  }

  function growCounted(group: MemoryGroup, { count, to, runForMs }: NodeGrowth): void {
    if (runForMs !== undefined) throw new Fault('unsupported', 'There is no queue.');
    if (mistakes.growsAgain) group.size += count;
    else group.size = mistakes.setsSize ? to : Math.max(group.size, to);
    for (const surplus of livingMachines(group).slice(group.size)) cloud.deleteMachine(group, surplus);
    cloud.fill(group);
  }

  function growNamed(group: MemoryGroup, { names = [], runForMs }: NodeGrowth): void {
    const there = namesIn(group);
    for (const asked of names.filter((name) => mistakes.growsAgain || !there.has(name))) {
      const name = mistakes.ownNames ? `${asked}x` : asked;
      if (runForMs !== undefined) cloud.queue(group, name, runForMs);
      else cloud.startMachine(group, name);
    }
  }

  function cancelOne(group: MemoryGroup, id: string): Outcome {
    const isThere = group.requests.has(id);
    if (!mistakes.cancelKeepsSize) {
      if (id === `${group.id}:count`) group.size = livingMachines(group).length;
      group.requests.delete(id);
    }
    const isRefused = mistakes.cancelFailsAgain && !isThere;
    return { name: id, fault: isRefused ? new Fault('missing', `There is no ${id}.`) : undefined };
  }

  function groupOf(group: MemoryGroup): NodeGroup {
    return {
      id: mistakes.freshIds ? `${group.id}:${clock.now()}` : group.id,
      name: group.name,
      queue: isNamed ? QUEUE : undefined,
      madeFor: group.madeFor,
      describe: (signal) => call(signal, () => stateOf(group)),
      grow: (growth, signal) =>
        call(
          signal,
          () => {
            asked(`grow ${group.name} by ${growth.count} to ${growth.to}`);
            refuseAutoscaled(group);
            if (isNamed) growNamed(group, growth);
            else growCounted(group, growth);
          },
          true,
        ),
      cancel: (ids, signal) =>
        call(
          signal,
          () => {
            asked(`cancel ${ids.length} of ${group.name}`);
            return ids.map((id) => cancelOne(group, id));
          },
          true,
        ),
      remove: (ids, signal) =>
        call(
          signal,
          () => {
            asked(`remove ${ids.length} of ${group.name}`);
            refuseAutoscaled(group);
            return ids.map((id) => removeOne(group, id));
          },
          true,
        ),
    };
  }

  function findOne(name: string, providerIds: readonly string[]): NodeGroup | GroupRefusal {
    const all = [...cloud.groups.values()];
    const fitting = all.filter((group) => group.name === name);
    const [first = mistakes.findsNearest ? all[0] : undefined, second] = fitting;
    const known = all.map((group) => `${group.name} in ${group.zone}`).join(', ');
    if (!first) {
      const message = `There is no group ${name}${mistakes.namesNoCandidates ? '' : `; there are ${known}`}.`;
      return { reason: 'GroupNotFound', message, remedy: 'Correct the name.' };
    }
    if (!second || mistakes.takesFirst) return groupOf(first);
    const atHand = fitting.filter((group) =>
      livingMachines(group).some((machine) => providerIds.includes(providerIdOf(group, machine))),
    );
    if (atHand.length === 1 && atHand[0]) return groupOf(atHand[0]);
    return { reason: 'GroupAmbiguous', message: `There are several: ${known}.`, remedy: 'Name the account.' };
  }

  return {
    cloud: 'memory',
    find: ({ names, providerIds }, signal) =>
      call(signal, () => new Map(names.map((name) => [name, findOne(name, providerIds)] as const))),
    create: ({ name, template, provisioner }, signal) =>
      call(
        signal,
        () => {
          asked(`create ${name} from ${template}`);
          const there = [...cloud.groups.values()].find((group) => group.name === name);
          if (there && there.madeFor !== provisioner && !mistakes.takesOver)
            throw new Fault('conflict', `${name} is a group of others.`);
          return groupOf(there ?? cloud.addGroup(name, 'zone-a', provisioner));
        },
        true,
      ),
    drop: (name, signal) =>
      call(
        signal,
        () => {
          asked(`drop ${name}`);
          const group = [...cloud.groups.values()].find((one) => one.name === name);
          if (!group) return;
          if (group.madeFor === undefined) throw new Fault('conflict', `${name} is a group of others.`);
          const isEmpty = group.machines.size + group.requests.size === 0;
          if (!isEmpty && !mistakes.dropsFull) throw new Fault('conflict', `${name} has machines.`);
          cloud.groups.delete(group.id);
        },
        true,
      ),
  };
}

export const memoryNodeGroupsKind = (open: () => NodeGroups) =>
  kind({
    summary: 'Node groups in memory.',
    config: z.object({}),
    example: {},
    trust: 'any source',
    open: async () => open(),
  });
