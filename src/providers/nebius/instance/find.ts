import { chunked } from '#core/chunked.ts';
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import { faultOf } from '../faults.ts';
import type { BatchGetResponse_Result, Instance } from '../gen/nebius_pb.ts';
import type { Account } from './account.ts';

// As many as surely fit into one answer: each comes with its user data.
const AT_ONCE = 100;

export const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

function instanceIn({ host }: Nebius, { result }: BatchGetResponse_Result): Instance | undefined {
  if (result.case === 'instance') return result.value;
  if (result.case === undefined) return undefined;
  const fault = faultOf(`InstanceService/BatchGet of Nebius (${host})`, result.value);
  if (isAbsent(fault)) return undefined;
  throw fault;
}

async function byIds(api: Nebius, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
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

async function byName(api: Nebius, parentId: string, name: string, signal: AbortSignal): Promise<Instance | undefined> {
  return api.ask(METHODS.getByName, { parentId, name }, { signal }).catch((thrown) => {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  });
}

/** By name, looked up in Nebius itself: what a machine is said to be is not believed. */
export async function findInstances(
  { parent, promised }: Account,
  api: Nebius,
  { machines, signal }: { readonly machines: readonly Machine[]; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Instance>> {
  const ids = new Map(machines.map(({ name, id }) => [name, id || promised.get(name)?.id || undefined]));
  const known = await byIds(api, [...new Set([...ids.values()].flatMap((id) => id ?? []))], signal);
  const found = [...ids].map(async ([name, id]) => {
    const instance = id === undefined ? await byName(api, parent, name, signal) : known.get(id);
    return instance ? [[name, instance] as const] : [];
  });
  return new Map((await Promise.all(found)).flat());
}
