// A machine is put by its name, and only where there is none of that name: repeating a launch makes nothing twice.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Mark, Outcome } from '#core/provider.ts';
import { createEach } from '#rest/creations.ts';
import { COMPUTE_VERSION } from './api.ts';
import { findVm, type Group, vmPath } from './group.ts';
import { markOf } from './marks.ts';

export interface CreatorDeps {
  readonly group: Group;
  /** The request for one machine. */
  bodyFor(launch: Launch, name: string, signal: AbortSignal): Promise<object>;
  /** What else to say of a refusal. */
  advise(fault: Fault, signal: AbortSignal): Promise<Fault>;
}

const isSame = (found: Mark | undefined, wanted: Mark): boolean =>
  (['cluster', 'use', 'owner'] as const).every((key) => found?.[key] === wanted[key]);

export function creatorOf({ group, bodyFor, advise }: CreatorDeps) {
  const { arm, promised } = group;

  async function put(launch: Launch, name: string, signal: AbortSignal): Promise<void> {
    const body = await bodyFor(launch, name, signal);
    let operation: string | undefined;
    const headers = { 'if-none-match': '*' };
    const heard = (answer: Response): void => {
      operation = answer.headers.get('azure-asyncoperation') ?? undefined;
    };
    await arm.ask(
      { method: 'PUT', path: vmPath(group, name), apiVersion: COMPUTE_VERSION, body, headers, heard },
      signal,
    );
    const [atMs, checkedMs] = [arm.clock.monotonic(), Number.NEGATIVE_INFINITY];
    promised.set(name, { mark: launch.mark, operation, atMs, checkedMs, ended: undefined });
    group.follower?.();
  }

  /** There is a machine of that name: an earlier request of ours made it, or it is somebody else's. */
  async function taken({ mark }: Launch, name: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const vm = await findVm(group, name, signal);
    if (!vm) return undefined;
    if (isSame(markOf(vm), mark)) return { name };
    return { name, fault: new Fault('invalid', `There is a machine ${name} that Muster did not make for this pool.`) };
  }

  async function createOne(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    if (promised.has(name)) return { name };
    try {
      await put(launch, name, signal);
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) throw await advise(fault, signal);
      const outcome = fault.kind === 'conflict' && (await taken(launch, name, signal).catch(() => undefined));
      if (outcome) return outcome;
      throw fault;
    }
  }

  return (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> =>
    createEach(launch, signal, (name) => createOne(launch, name, signal));
}
