import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { createEach, joined } from '#rest/creations.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import type { InstanceConfig } from '../config.ts';
import { faultOf, isAlreadyThere } from '../faults.ts';
import type { Operation } from '../gen/nebius_pb.ts';
import type { Account } from './account.ts';
import { markOf } from './marks.ts';
import { requestOf } from './request.ts';

/** The same for the same instance of the same launch, in the form of a UUID. */
function idempotencyKey(launch: string, name: string): string {
  const digits = hash('sha256', `${launch}\n${name}`).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export interface CreatorDeps {
  readonly account: Account;
  readonly api: Nebius;
  readonly config: InstanceConfig;
  image(signal: AbortSignal): Promise<string>;
  /** Names what was probably meant, where a name is wrong. */
  advise(fault: Fault, signal: AbortSignal): Promise<Fault>;
}

export function creatorOf({ account, api, config, image, advise }: CreatorDeps) {
  const { clock, promised, underWay, parent } = account;

  /** The name is taken: by an earlier call of this launch, or by somebody else. */
  async function alreadyThere(launch: Launch, name: string, refused: Fault, signal: AbortSignal): Promise<Outcome> {
    const found = await api.ask(METHODS.getByName, { parentId: parent, name }, { signal });
    const mark = markOf(found);
    if (mark?.cluster === launch.mark.cluster && mark.owner === launch.mark.owner) return { name };
    throw new Fault('invalid', refused.message, { remedy: `The name ${name} is taken in ${parent} by somebody else.` });
  }

  function agreed(launch: Launch, name: string, { id, resourceId, status }: Operation): Outcome {
    if (status && status.code !== 0) throw faultOf(`The creation of ${name} by Nebius (${api.host})`, status);
    const atMs = clock.monotonic();
    promised.set(name, { id: resourceId, operation: id, api, mark: launch.mark, atMs, checkedMs: atMs });
    account.follower?.();
    return { name };
  }

  async function createOnce(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    if (promised.has(name)) return { name };
    const request = requestOf(config, { launch, name, image: await image(signal) });
    const key = idempotencyKey(launch.id, name);
    try {
      return agreed(launch, name, await api.ask(METHODS.createInstance, request, { signal, key }));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (isAlreadyThere(fault)) return alreadyThere(launch, name, fault, signal);
      throw await advise(fault, signal);
    }
  }

  return (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> =>
    createEach(launch, signal, (name) =>
      joined(underWay, name, { clock, signal, what: `The creation of ${name}` }, () =>
        createOnce(launch, name, signal),
      ),
    );
}
