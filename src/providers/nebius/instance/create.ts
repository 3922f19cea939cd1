// Nebius agrees first and finds out afterwards: only the operation of an instance says whether there was room.
import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { checkEach, createEach } from '#rest/creations.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import type { InstanceConfig } from '../config.ts';
import { faultOf, isAlreadyThere } from '../faults.ts';
import type { Operation, Status } from '../gen/nebius_pb.ts';
import { advised } from '../platforms.ts';
import { markOf } from './marks.ts';
import { imageOf, requestOf } from './request.ts';

/** The same for the same instance of the same launch, in the form of a UUID. */
function idempotencyKey(launch: string, name: string): string {
  const digits = hash('sha256', `${launch}\n${name}`).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const creationFault = ({ host }: Nebius, name: string, status: Status): Fault =>
  faultOf(`The creation of ${name} by Nebius (${host})`, status);

export function creatorOf(api: Nebius, config: InstanceConfig): Required<Pick<Backend, 'create' | 'check'>> {
  const { parentId } = config;

  function outcomeOf(name: string, { id: operation, status }: Operation): Outcome {
    if (!status) return { name, operation };
    return status.code === 0 ? { name } : { name, fault: creationFault(api, name, status) };
  }

  /** The name is taken: by an earlier call of this launch, or by somebody else. */
  async function alreadyThere({ mark }: Launch, name: string, refused: Fault, signal: AbortSignal): Promise<Outcome> {
    const found = markOf(await api.ask(METHODS.getByName, { parentId, name }, { signal }));
    if (found?.cluster === mark.cluster && found.owner === mark.owner) return { name };
    const remedy = `The name ${name} is taken in ${parentId} by somebody else.`;
    throw new Fault('invalid', refused.message, { remedy });
  }

  async function createOne(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    const request = requestOf(config, { launch, name, image: await imageOf(api, config, signal) });
    const key = idempotencyKey(launch.id, name);
    try {
      return outcomeOf(name, await api.ask(METHODS.createInstance, request, { signal, key }));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (isAlreadyThere(fault)) return alreadyThere(launch, name, fault, signal);
      throw await advised(fault, config, { api, signal });
    }
  }

  return {
    create: (launch, signal) => createEach(launch, signal, (name) => createOne(launch, name, signal)),
    check: (pending, signal) =>
      checkEach(pending, signal, async (id, names) => {
        const operation = await api.ask(METHODS.getOperation, { id }, { signal });
        return names.map((name) => outcomeOf(name, operation));
      }),
  };
}
