// A group is put by its name. Azure takes a second creation of a name for a change: it starts the containers again, also
// those that have ended. So a name that is there is never put again.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { createEach } from '#rest/creations.ts';
import { checkCreations, operationIn } from '../arm/operations.ts';
import { isOwnedAlike, markOf } from '../vm/marks.ts';
import { CONTAINERS_VERSION } from './api.ts';
import { bodyFor } from './body.ts';
import type { ContainerInstanceConfig } from './config.ts';
import { findGroup, groupPath, type Place } from './place.ts';

export interface CreatorDeps {
  readonly place: Place;
  readonly config: ContainerInstanceConfig;
  /** What else to say of a refusal. */
  advise(fault: Fault, signal: AbortSignal): Promise<Fault>;
}

export function creatorOf({ place, config, advise }: CreatorDeps): Required<Pick<Backend, 'create' | 'check'>> {
  const { arm } = place;

  /** What is there under the name: an earlier request of ours made it, or it is somebody else's. */
  async function existing({ mark }: Launch, name: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const found = await findGroup(place, name, signal);
    if (!found) return undefined;
    if (isOwnedAlike(markOf(found), mark)) return { name };
    const message = `There is a container group ${name} that Muster did not make for this owner.`;
    return { name, fault: new Fault('invalid', message) };
  }

  async function put(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    let operation: string | undefined;
    const heard = (answer: Response): void => {
      operation = operationIn(answer);
    };
    const body = bodyFor(config, launch, { name, place });
    const request = {
      method: 'PUT',
      path: groupPath(place, name),
      apiVersion: CONTAINERS_VERSION,
      body,
      heard,
    } as const;
    await arm.ask(request, signal);
    return { name, operation };
  }

  async function createOne(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    const found = await existing(launch, name, signal);
    if (found) return found;
    try {
      return await put(launch, name, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) return { name, fault: await advise(fault, signal) };
      // It is in transition: another request for it came first.
      const made = fault.kind === 'conflict' && (await existing(launch, name, signal).catch(() => undefined));
      if (made) return made;
      throw fault;
    }
  }

  return {
    create: (launch, signal) => createEach(launch, signal, (name) => createOne(launch, name, signal)),
    check: (pending, signal) => checkCreations(arm, pending, signal),
  };
}
