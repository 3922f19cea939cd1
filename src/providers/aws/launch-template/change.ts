import type { Instance } from '@aws-sdk/client-ec2';
import { chunked } from '#core/chunked.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Ec2Calls, Service } from '../client.ts';
import { type Finder, findTargets } from './find.ts';

type Action = 'TerminateInstances' | 'StopInstances' | 'StartInstances';

// Few enough that the resource limit of the account is waited out in seconds.
const AT_ONCE = 200;

// One instance of these fails the whole call, and EC2 does nothing for the others.
const OF_ONE: ReadonlySet<FaultKind> = new Set(['missing', 'invalid', 'denied', 'unsupported', 'conflict']);

/** Does it to all; where one spoils the call, halves find it, so that only that one has a fault. */
async function changeAll(
  ec2: Service<Ec2Calls>,
  action: Action,
  { ids, signal }: { readonly ids: readonly string[]; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Fault>> {
  try {
    await ec2.ask(action, { InstanceIds: [...ids] }, { signal, machines: ids.length });
    return new Map();
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (signal.aborted) throw fault;
    if (ids.length === 1 || !OF_ONE.has(fault.kind)) return new Map(ids.map((id) => [id, fault]));
    const half = Math.ceil(ids.length / 2);
    const first = await changeAll(ec2, action, { ids: ids.slice(0, half), signal });
    const rest = await changeAll(ec2, action, { ids: ids.slice(half), signal });
    return new Map([...first, ...rest]);
  }
}

const stateOf = ({ State }: Instance): string => State?.Name ?? 'pending';

interface Change {
  readonly action: Action;
  /** States in which there is nothing left to do. */
  readonly done: readonly string[];
  /** States in which it cannot be done yet. */
  readonly notYet?: readonly string[];
  readonly absentIsDone: boolean;
}

const CHANGES = {
  delete: { action: 'TerminateInstances', done: ['shutting-down', 'terminated'], absentIsDone: true },
  suspend: { action: 'StopInstances', done: ['stopping', 'stopped'], absentIsDone: false },
  resume: { action: 'StartInstances', done: ['pending', 'running'], notYet: ['stopping'], absentIsDone: false },
} as const satisfies Record<string, Change>;

/** Deletes, stops or starts machines; each has its own outcome. */
export async function changeMachines(
  finder: Finder,
  what: keyof typeof CHANGES,
  { machines, signal }: { readonly machines: readonly Machine[]; readonly signal: AbortSignal },
): Promise<Outcome[]> {
  const { ec2 } = finder;
  const { action, done, notYet = [], absentIsDone }: Change = CHANGES[what];
  const targets = await findTargets(finder, machines, signal);
  const ids = targets.flatMap(({ instances }) =>
    instances.filter((one) => ![...done, ...notYet].includes(stateOf(one))).map(({ InstanceId = '' }) => InstanceId),
  );
  const faults = new Map<string, Fault>();
  for (const some of chunked(ids, AT_ONCE)) {
    for (const [id, fault] of await changeAll(ec2, action, { ids: some, signal })) faults.set(id, fault);
  }
  return targets.map(({ machine: { name }, instances, refusal }) => {
    const waits = instances.some((one) => notYet.includes(stateOf(one)));
    const failed = instances.flatMap(({ InstanceId = '' }) => faults.get(InstanceId) ?? [])[0];
    const fault = refusal ?? failed ?? (waits ? stillStopping(name) : undefined);
    if (fault && !(absentIsDone && fault.kind === 'missing')) return { name, fault };
    return instances.length > 0 || absentIsDone ? { name } : { name, fault: gone(name) };
  });
}

const stillStopping = (name: string): Fault => new Fault('conflict', `${name} is still stopping.`);
const gone = (name: string): Fault => new Fault('missing', `${name} no longer exists.`);
