// Names are ours, so a launch makes nothing twice: the request id is the same for each try, and a name exists once.
import { Fault } from '#core/fault.ts';
import { nameWithMark } from '#core/mark-name.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import type { Operation } from '../compute/api.ts';
import { MARK_KEY, markText } from '../compute/marks.ts';
import { followed, requestIdFor } from '../compute/operation.ts';
import { STARTUP_KEY, startupScript } from '../compute/startup.ts';
import type { GroupConfig } from './config.ts';
import { type Facts, factsOf } from './facts.ts';
import { type Group, lookSince } from './group.ts';
import { isPlaced, troubleOf } from './machine.ts';
import { deleteInstances } from './remove.ts';

// The operation only says that the group has taken the request in.
const TAKEN_WITHIN_MS = 60_000;
// A group without capacity says so within seconds. What it has not refused by then the listings tell.
const PLACED_WITHIN_MS = 45_000;
const LOOK_EVERY_MS = 2_000;

interface CreatorDeps {
  readonly group: Group;
  readonly config: GroupConfig;
}

function bodyFor({ config }: CreatorDeps, facts: Facts, launch: Launch, names: readonly string[]): object {
  const { mark, boot, askedAt } = launch;
  if (config.marks === 'name') return { instances: names.map((name) => ({ name: nameWithMark(name, mark) })) };
  const { isSpot, startupScript: ofTemplate } = facts;
  const text = markText(mark, askedAt);
  const metadataOf = (name: string) => ({
    [MARK_KEY]: text,
    [STARTUP_KEY]: startupScript({ boot, naming: { name }, overrides: config, isSpot, ofTemplate }),
  });
  return { instances: names.map((name) => ({ name, preservedState: { metadata: metadataOf(name) } })) };
}

export function creatorOf(deps: CreatorDeps) {
  const { group } = deps;
  const { compute, clock, path, place, promised } = group;

  async function post(launch: Launch, names: readonly string[], signal: AbortSignal): Promise<void> {
    const body = bodyFor(deps, await factsOf(group, signal), launch, names);
    const query = { requestId: requestIdFor(path, launch.id, ...names) };
    const request = { method: 'POST', path: `${path}/createInstances`, query, body } as const;
    const operation = await compute.ask<Operation>(request, signal);
    const what = `createInstances of ${group.name} (${place})`;
    await followed(compute, operation, { place, what, withinMs: TAKEN_WITHIN_MS }, signal);
    for (const name of names) promised.set(name, clock.monotonic());
  }

  /** A name that exists is refused: then only those that do not are asked for. */
  async function ensure(launch: Launch, signal: AbortSignal): Promise<void> {
    try {
      await post(launch, launch.names, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'conflict' && fault.kind !== 'invalid') throw fault;
      const { marked } = await lookSince(group, clock.monotonic(), signal);
      const missing = launch.names.filter((name) => !marked.has(name));
      if (missing.length === launch.names.length) throw fault;
      if (missing.length > 0) await post(launch, missing, signal);
    }
  }

  /** The names that the group has refused so far, and whether it may refuse more. */
  async function judge({ names }: Launch, signal: AbortSignal) {
    const { marked } = await lookSince(group, clock.monotonic(), signal);
    const refused = new Map<string, Fault>();
    let isOpen = false;
    for (const name of names) {
      const { managed } = marked.get(name) ?? {};
      const trouble = managed && troubleOf(managed, name);
      if (trouble?.final) refused.set(name, new Fault(trouble.kind, trouble.message, { remedy: '' }));
      else if (!managed || !isPlaced(managed)) isOpen = true;
    }
    return { refused, isOpen, marked };
  }

  /**
   * Waits until each machine has its place, or the group cannot make one: those are taken out of it again, and another
   * offer is asked at once. What becomes of the others the listings tell.
   */
  async function settle(launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> {
    const endMs = clock.monotonic() + PLACED_WITHIN_MS;
    let judged: Awaited<ReturnType<typeof judge>> | undefined;
    const isWaiting = (): boolean => judged === undefined || (judged.isOpen && judged.refused.size === 0);
    while (clock.monotonic() < endMs && !signal.aborted && isWaiting()) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      judged = await judge(launch, signal).catch(() => judged);
    }
    const { refused, marked } = judged ?? { refused: new Map<string, Fault>(), marked: new Map() };
    const doomed = [...refused.keys()].flatMap((name) => marked.get(name)?.managed ?? []);
    // One that stays is a machine without a worker: the sweep finds it.
    if (doomed.length > 0) await deleteInstances(group, doomed, signal).catch(() => {});
    return launch.names.map((name) => ({ name, fault: refused.get(name) }));
  }

  return async (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    await ensure(launch, signal);
    return settle(launch, signal);
  };
}
