// Deleting, stopping and starting instances, each looked up in Nebius itself: what a machine is said to be is not believed.
import { chunked } from '#core/chunked.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import { faultOf } from '../faults.ts';
import { type BatchGetResponse_Result, type Instance, InstanceState, type Operation } from '../gen/nebius_pb.ts';
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

const LOOK_EVERY_MS = 1_000;
// As many as surely fit into one answer: each comes with its user data.
const AT_ONCE = 100;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

function instanceIn({ host }: Nebius, { result }: BatchGetResponse_Result): Instance | undefined {
  if (result.case === 'instance') return result.value;
  if (result.case === undefined) return undefined;
  const fault = faultOf(`InstanceService/BatchGet of Nebius (${host})`, result.value);
  if (isAbsent(fault)) return undefined;
  throw fault;
}

/** Deletes, stops or starts instances; each has its own outcome. */
export function changerOf(api: Nebius, parentId: string, cluster: string) {
  const { clock } = api;

  async function byIds(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
    const found = new Map<string, Instance>();
    for (const some of chunked(ids, AT_ONCE)) {
      const { items } = await api.ask(METHODS.getInstances, { instanceIds: [...some] }, { signal });
      for (const [id, result] of Object.entries(items)) {
        const instance = instanceIn(api, result);
        if (instance) found.set(id, instance);
      }
    }
    return found;
  }

  async function byName(name: string, signal: AbortSignal): Promise<Instance | undefined> {
    return api.ask(METHODS.getByName, { parentId, name }, { signal }).catch((thrown) => {
      if (isAbsent(thrown)) return undefined;
      throw thrown;
    });
  }

  /** The end of an operation, as far as there is time for it. */
  async function ended(
    name: string,
    operation: Operation,
    { noun, waitsMs = 0, signal }: Kind & { readonly signal: AbortSignal },
  ): Promise<void> {
    let { status } = operation;
    const endMs = clock.monotonic() + waitsMs;
    while (!status && clock.monotonic() < endMs && !signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      ({ status } = await api.ask(METHODS.getOperation, { id: operation.id }, { signal }));
    }
    if (status && status.code !== 0) throw faultOf(`The ${noun} of ${name} by Nebius (${api.host})`, status);
  }

  async function changeOne(
    { name, mark }: Machine,
    find: () => Promise<Instance | undefined>,
    kind: Kind & { readonly signal: AbortSignal },
  ): Promise<void> {
    const instance = mark?.cluster === cluster ? await find() : undefined;
    const isOurs = mark?.cluster === cluster && (!instance || markOf(instance)?.cluster === cluster);
    if (!isOurs) throw new Fault('denied', `${name} is not a machine of this cluster.`);
    if (!instance) throw new Fault('missing', `${name} no longer exists.`);
    const state = stateOf(instance);
    if (kind.done.includes(state)) return;
    if (kind.notYet?.includes(state)) throw new Fault('conflict', `${name} is still stopping.`);
    // Without an idempotency key: with one, a change whose operation failed could never be asked for again.
    const question = { id: instance.metadata?.id ?? '' };
    await ended(name, await api.ask(kind.method, question, { signal: kind.signal }), kind);
  }

  return (change: keyof typeof KINDS): Backend['delete'] => {
    const kind: Kind = KINDS[change];
    return async (machines, signal): Promise<readonly Outcome[]> => {
      if (signal.aborted) throw new Fault('unavailable', `The ${kind.noun} of machines was cancelled.`);
      const ids = machines.flatMap(({ id, mark }) => (id && mark?.cluster === cluster ? [id] : []));
      const known = await byIds([...new Set(ids)], signal);
      const outcomes = machines.map((machine): Promise<Outcome> => {
        const { name, id } = machine;
        // What the answer for many lacks is asked for by itself before it counts as gone.
        const find = async () => (id && known.get(id)) || byName(name, signal);
        return changeOne(machine, find, { ...kind, signal }).then(
          () => ({ name }),
          (thrown) => (kind.absentIsDone && isAbsent(thrown) ? { name } : { name, fault: Fault.from(thrown) }),
        );
      });
      return Promise.all(outcomes);
    };
  };
}
