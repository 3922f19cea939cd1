// Dynamic Workload Scheduler: a resize request waits for room, and its instances end by themselves.
import { Fault, isUnclear } from '#core/fault.ts';
import type { NodeGroup, NodeGrowth } from '#core/node-group.ts';
import type { Outcome } from '#core/provider.ts';
import type { ResizeRequest } from '../compute/api.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { requestIdFor } from '../compute/operation.ts';
import { type Group, listManaged } from '../instance-group/group.ts';
import { isWaiting, namesOf } from './instances.ts';
import { sendChange } from './send-change.ts';
import { listRequests } from './state.ts';

const MINUTE_S = 60;

/** Compute Engine, "About resize requests": from ten minutes to seven days. GKE's own limit is 50 requests at a time. */
export const QUEUE: NonNullable<NodeGroup['queue']> = {
  leastMs: 10 * MINUTE_S * 1_000,
  mostMs: 7 * 24 * 60 * MINUTE_S * 1_000,
  mostRequests: 50,
};

const DESCRIPTION = 'Made by Muster.';

const pathOf = (name: string): string => `/resizeRequests/${name}`;

async function findRequest({ compute, path }: Group, name: string, signal: AbortSignal) {
  try {
    return await compute.ask<ResizeRequest>({ path: `${path}${pathOf(name)}` }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}

interface QueueGrowth extends NodeGrowth {
  readonly names: readonly string[];
  readonly runForMs: number;
}

/** The request bears the name of its one instance, which is never used again: a repeat finds it. */
async function queueOne(group: Group, name: string, { id, runForMs }: QueueGrowth, signal: AbortSignal) {
  const query = { requestId: requestIdFor(group.path, id, name) };
  const seconds = String(Math.round(runForMs / 1_000));
  const body = { name, description: DESCRIPTION, instances: [{ name }], requestedRunDuration: { seconds } };
  try {
    await sendChange(group, { path: '/resizeRequests', query, body }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'conflict' && fault.kind !== 'invalid') throw fault;
    if (await findRequest(group, name, signal)) return;
    const there = await listManaged(group, signal);
    if (!there.some((managed) => instanceNameOf(managed) === name)) throw fault;
  }
}

/** Google keeps requests that are over; those of ours are deleted, as far as that goes. */
async function tidy(group: Group, kept: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
  const all = await listRequests(group, signal);
  const over = all.filter(
    (one) =>
      (one.state === 'SUCCEEDED' || one.state === 'CANCELLED') &&
      one.description === DESCRIPTION &&
      !namesOf(one).some((name) => kept.has(name)),
  );
  for (const { name } of over.slice(0, QUEUE.mostRequests))
    await sendChange(group, { method: 'DELETE', path: pathOf(name) }, signal).catch(() => {});
}

export async function queueInstances(group: Group, growth: QueueGrowth, signal: AbortSignal): Promise<void> {
  const { runForMs, names } = growth;
  if (runForMs < QUEUE.leastMs || runForMs > QUEUE.mostMs)
    throw new Fault('invalid', `Instances of the queue run from 10 minutes to 7 days, not ${runForMs / 1_000} s.`);
  await tidy(group, new Set(names), signal);
  const [first = '', ...others] = names;
  // What refuses the first refuses the growth. Of the others the state shows those that were taken in.
  await queueOne(group, first, growth, signal);
  const faults = others.map((name) =>
    queueOne(group, name, growth, signal).then(
      () => undefined,
      (thrown) => Fault.from(thrown),
    ),
  );
  const unclear = (await Promise.all(faults)).find((fault) => fault && isUnclear(fault.kind));
  if (unclear) throw unclear;
}

/** Answers have the code in their body, operations in their message. */
const isNotMet = ({ message, cause }: Fault): boolean =>
  /condition_?not_?met/i.test(`${message} ${JSON.stringify(cause)}`);

async function cancelOne(group: Group, id: string, signal: AbortSignal): Promise<void> {
  const request = await findRequest(group, id, signal);
  if (!request) return;
  const granted = (): Fault => new Fault('conflict', `The resize request ${id} of ${group.name} was granted.`);
  if (request.state === 'SUCCEEDED') throw granted();
  if (isWaiting(request))
    await sendChange(group, { path: `${pathOf(id)}/cancel` }, signal).catch(async (thrown) => {
      const fault = Fault.from(thrown);
      if (!isNotMet(fault)) throw fault;
      // It is being granted at this moment, or somebody else has cancelled it.
      const now = await findRequest(group, id, signal);
      if (now && now.state !== 'CANCELLED' && now.state !== 'FAILED') throw granted();
    });
  // What is no longer queued has left the size of the group already.
  await sendChange(group, { method: 'DELETE', path: pathOf(id) }, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
  });
}

export function cancelRequests(group: Group, ids: readonly string[], signal: AbortSignal): Promise<readonly Outcome[]> {
  const outcomes = ids.map((name) =>
    cancelOne(group, name, signal).then(
      (): Outcome => ({ name }),
      (thrown): Outcome => ({ name, fault: Fault.from(thrown) }),
    ),
  );
  return Promise.all(outcomes);
}
