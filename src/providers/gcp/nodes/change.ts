// Growing and shrinking a group by instances that are named, never by its size.
import { Fault } from '#core/fault.ts';
import type { NodeGrowth } from '#core/node-group.ts';
import type { Outcome } from '#core/provider.ts';
import { type Instance, lastPart } from '../compute/api.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { requestIdFor } from '../compute/operation.ts';
import { instancesIn } from '../instance/listing.ts';
import { type Group, listManaged } from '../instance-group/group.ts';
import { ENDING } from '../instance-group/machine.ts';
import { idOf, targetOf } from './instances.ts';
import { queueInstances } from './queue.ts';
import { sendChange } from './send-change.ts';
import { type NodesGroup, readResource, refusalFor } from './state.ts';

/** Throws where another sizes the group. */
async function demandOurs(nodes: NodesGroup, signal: AbortSignal): Promise<void> {
  const refusal = await refusalFor(nodes, await readResource(nodes.group, signal), signal);
  if (refusal) throw new Fault('conflict', refusal.message, { remedy: refusal.remedy });
}

async function createInstances(group: Group, { id }: NodeGrowth, names: readonly string[], signal: AbortSignal) {
  const query = { requestId: requestIdFor(group.path, id, ...names) };
  const body = { instances: names.map((name) => ({ name })) };
  await sendChange(group, { path: '/createInstances', query, body }, signal);
}

/** A name that exists is refused, and all with it: then only those that do not are asked for. */
async function createMissing(group: Group, growth: NodeGrowth, names: readonly string[], signal: AbortSignal) {
  try {
    await createInstances(group, growth, names, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'conflict' && fault.kind !== 'invalid') throw fault;
    const there = new Set((await listManaged(group, signal)).map(instanceNameOf));
    const missing = names.filter((name) => !there.has(name));
    if (missing.length === names.length) throw fault;
    if (missing.length > 0) await createInstances(group, growth, missing, signal);
  }
}

export async function grow(nodes: NodesGroup, growth: NodeGrowth, signal: AbortSignal): Promise<void> {
  const { names = [], runForMs } = growth;
  if (signal.aborted) throw new Fault('unavailable', 'The growth was cancelled.');
  if (names.length === 0) throw new Fault('invalid', `A growth of ${nodes.group.name} names no instances.`);
  await demandOurs(nodes, signal);
  if (runForMs === undefined) await createMissing(nodes.group, growth, names, signal);
  else await queueInstances(nodes.group, { ...growth, names, runForMs }, signal);
}

const createdBy = ({ metadata }: Instance): string | undefined =>
  metadata?.items?.find(({ key }) => key === 'created-by')?.value;

/** A listing of the group may be late: only the project as a whole shows that there is no such instance. */
async function removeUnlisted(group: Group, id: string, signal: AbortSignal): Promise<void> {
  const { compute, place, name } = group;
  const key = /^\d+$/.test(id) ? 'id' : 'name';
  const query = { filter: `${key}=${id}`, maxResults: 500 };
  const found = await compute.all({ path: '/aggregated/instances', query, items: instancesIn }, signal);
  const isOurs = (one: Instance): boolean =>
    createdBy(one)?.endsWith(`/${place}/instanceGroupManagers/${name}`) === true;
  const ours = found.filter(isOurs);
  if (ours.length === 0 && found.length > 0)
    throw new Fault('invalid', `${id} is no instance of the group ${name}.`, {
      remedy: 'Name instances of this group.',
    });
  const instances = ours.map((one) => `zones/${lastPart(one.zone)}/instances/${one.name}`);
  if (instances.length > 0) await sendChange(group, { path: '/deleteInstances', body: { instances } }, signal);
}

export async function removeInstances(
  nodes: NodesGroup,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const { group } = nodes;
  if (signal.aborted) throw new Fault('unavailable', 'The removal was cancelled.');
  await demandOurs(nodes, signal);
  const managed = await listManaged(group, signal);
  const byId = new Map(managed.flatMap((one) => [[instanceNameOf(one), one] as const, [idOf(one), one] as const]));
  const doomed = ids.flatMap((id) => byId.get(id) ?? []).filter(({ currentAction = '' }) => !ENDING.has(currentAction));
  if (doomed.length > 0) {
    const instances = doomed.map((one) => targetOf(group, one));
    // Lenient: what somebody else removes at this moment must not keep the others.
    const body = { instances, skipInstancesOnValidationError: true };
    await sendChange(group, { path: '/deleteInstances', body }, signal);
  }
  const outcomes = ids.map(async (name): Promise<Outcome> => {
    if (byId.has(name)) return { name };
    return removeUnlisted(group, name, signal).then(
      () => ({ name }),
      (thrown) => ({ name, fault: Fault.from(thrown) }),
    );
  });
  return Promise.all(outcomes);
}
