import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import { faultOf } from '../faults.ts';
import { type Instance, InstanceState, type Operation } from '../gen/nebius_pb.ts';
import type { Account } from './account.ts';
import { findInstances, isAbsent } from './find.ts';
import { markOf, stateOf } from './marks.ts';

interface Kind {
  readonly method: typeof METHODS.deleteInstance;
  /** For messages: `The deletion of m-1`. */
  readonly noun: string;
  /** States in which there is nothing left to do. */
  readonly done: readonly InstanceState[];
  /** States in which it cannot be done yet. */
  readonly notYet?: readonly InstanceState[];
  readonly absentIsDone?: boolean;
  /** How long to wait for the end of its operation: only that tells whether there was room. */
  readonly waitsMs?: number;
}

const { DELETING, STOPPING, STOPPED, STARTING, RUNNING } = InstanceState;
const KINDS = {
  delete: { method: METHODS.deleteInstance, noun: 'deletion', done: [DELETING], absentIsDone: true },
  suspend: { method: METHODS.stopInstance, noun: 'stop', done: [STOPPING, STOPPED] },
  resume: {
    method: METHODS.startInstance,
    noun: 'start',
    done: [STARTING, RUNNING],
    notYet: [STOPPING],
    waitsMs: 15_000,
  },
} as const satisfies Record<string, Kind>;

export type Change = keyof typeof KINDS;

const LOOK_EVERY_MS = 1_000;

/** Deletes, stops or starts instances; each has its own outcome. */
export function changerOf(account: Account, api: Nebius, change: Change) {
  const { clock, cluster, promised, failed } = account;
  const { method, noun, done, notYet = [], absentIsDone = false, waitsMs = 0 }: Kind = KINDS[change];

  /** The end of an operation, as far as there is time for it. */
  async function ended(name: string, operation: Operation, signal: AbortSignal): Promise<void> {
    let { status } = operation;
    const endMs = clock.monotonic() + waitsMs;
    while (!status && clock.monotonic() < endMs && !signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      ({ status } = await api.ask(METHODS.getOperation, { id: operation.id }, { signal }));
    }
    if (status && status.code !== 0) throw faultOf(`The ${noun} of ${name} by Nebius (${api.host})`, status);
  }

  async function ask(name: string, instance: Instance, signal: AbortSignal): Promise<void> {
    const id = instance.metadata?.id ?? '';
    const state = stateOf(instance);
    if (done.includes(state)) return;
    if (notYet.includes(state)) throw new Fault('conflict', `${name} is still stopping.`);
    // Without an idempotency key: with one, a change whose operation failed could never be asked for again.
    await ended(name, await api.ask(method, { id }, { signal }), signal);
  }

  const isOurs = ({ mark }: Machine, instance: Instance | undefined): boolean =>
    mark?.cluster === cluster && (!instance || markOf(instance)?.cluster === cluster);

  async function faultIn(machine: Machine, instance: Instance | undefined, signal: AbortSignal) {
    const { name } = machine;
    if (!isOurs(machine, instance)) return new Fault('denied', `${name} is not a machine of this cluster.`);
    if (!instance) return absentIsDone ? undefined : new Fault('missing', `${name} no longer exists.`);
    return ask(name, instance, signal).then(
      () => undefined,
      (thrown) => (absentIsDone && isAbsent(thrown) ? undefined : Fault.from(thrown)),
    );
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', `The ${noun} of machines was cancelled.`);
    const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
    const found = await findInstances(account, api, { machines: ours, signal });
    const outcomes = machines.map(async (machine): Promise<Outcome> => {
      const { name } = machine;
      const fault = await faultIn(machine, found.get(name), signal);
      if (!fault && change === 'delete') for (const told of [promised, failed]) told.delete(name);
      return fault ? { name, fault } : { name };
    });
    return Promise.all(outcomes);
  };
}
