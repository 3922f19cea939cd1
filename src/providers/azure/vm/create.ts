// A machine is put by its name, and only where there is none of that name: repeating a launch makes nothing twice.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Mark, Outcome } from '#core/provider.ts';
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

  /** Nothing where the answer is unclear. */
  async function createOne(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome | Fault> {
    if (promised.has(name)) return { name };
    try {
      await put(launch, name, signal);
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) return { name, fault: await advise(fault, signal) };
      if (fault.kind !== 'conflict') return fault;
      return (await taken(launch, name, signal).catch(() => undefined)) ?? fault;
    }
  }

  return async (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    const answers = await Promise.all(launch.names.map((name) => createOne(launch, name, signal)));
    const outcomes = answers.filter((one): one is Outcome => !(one instanceof Fault));
    const [unclear] = answers.filter((one) => one instanceof Fault);
    // Where some are clear, the others are simply left out: the next listing tells.
    if (unclear && outcomes.length === 0) throw unclear;
    return outcomes;
  };
}
