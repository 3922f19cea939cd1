// A machine is put by its name, and only where there is none of that name: repeating a launch makes nothing twice. Azure
// agrees first and finds out afterwards: the operation tells how that ended.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { createEach } from '#rest/creations.ts';
import { checkCreations, operationIn } from '../arm/operations.ts';
import { COMPUTE_VERSION } from './api.ts';
import { findVm, type Group, vmPath } from './group.ts';
import { isOwnedAlike, markOf } from './marks.ts';

export interface Forming {
  /** What makes the requests for the machines of a launch. */
  bodies(launch: Launch, signal: AbortSignal): Promise<(name: string) => object>;
  /** Makes what the machines refer to; answers why not, where that certainly failed. Absent: it is there. */
  prepare?(launch: Launch, name: string, signal: AbortSignal): Promise<Fault | undefined>;
  /** Deletes that again, where a machine is refused. */
  undo?(name: string, signal: AbortSignal): Promise<void>;
  /** What else to say of a refusal. */
  advise(fault: Fault, signal: AbortSignal): Promise<Fault>;
}

export function creatorOf(
  group: Group,
  { bodies, advise, prepare, undo }: Forming,
): Required<Pick<Backend, 'create' | 'check'>> {
  const { arm } = group;

  async function put(name: string, body: object, signal: AbortSignal): Promise<Outcome> {
    let operation: string | undefined;
    const heard = (answer: Response): void => {
      operation = operationIn(answer);
    };
    const request = { method: 'PUT', path: vmPath(group, name), apiVersion: COMPUTE_VERSION, body, heard } as const;
    await arm.ask({ ...request, headers: { 'if-none-match': '*' } }, signal);
    return { name, operation };
  }

  /** There is a machine of that name: an earlier request of ours made it, or it is somebody else's. */
  async function taken({ mark }: Launch, name: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const vm = await findVm(group, name, signal);
    if (!vm) return undefined;
    if (isOwnedAlike(markOf(vm), mark)) return { name };
    return { name, fault: new Fault('invalid', `There is a machine ${name} that Muster did not make for this pool.`) };
  }

  /** Nothing is left of a machine that is refused: where that is not certain, neither is the refusal. */
  async function refused(name: string, fault: Fault, signal: AbortSignal): Promise<Outcome> {
    await undo?.(name, signal).catch((thrown) => {
      const { message } = Fault.from(thrown);
      throw new Fault('unavailable', `${fault.message} What was made for the machine is left: ${message}`);
    });
    return { name, fault: await advise(fault, signal) };
  }

  async function createOne(launch: Launch, name: string, body: object, signal: AbortSignal): Promise<Outcome> {
    try {
      const failure = await prepare?.(launch, name, signal);
      if (failure) return await refused(name, failure, signal);
      return await put(name, body, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) return await refused(name, fault, signal);
      const outcome = fault.kind === 'conflict' && (await taken(launch, name, signal).catch(() => undefined));
      if (outcome) return outcome;
      throw fault;
    }
  }

  return {
    async create(launch, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
      const bodyOf = bodies(launch, signal);
      return createEach(launch, signal, async (name) => createOne(launch, name, (await bodyOf)(name), signal));
    },
    check: (pending, signal) => checkCreations(arm, pending, signal),
  };
}
