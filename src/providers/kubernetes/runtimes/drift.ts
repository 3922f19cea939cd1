// What others changed in our objects. Only the API server can tell, by a dry run: it knows its defaults, and whose each field is.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import type { RuntimeObject } from './objects.ts';
import { OURS, refusedAsInvalid } from './remake.ts';

/** An object as it is applied, and as it is in the cluster. */
export interface ComparedObject extends RuntimeObject {
  readonly live: KubeObject;
}

export interface Drift {
  /** The API server answered this when we applied the object: nobody else has changed it. */
  isApplied(id: string, wanted: KubeObject, answer: KubeObject): void;
  /** The first object that applying would change. */
  changedByOthers(
    id: string,
    objects: readonly ComparedObject[],
    signal: AbortSignal,
  ): Promise<RuntimeObject | undefined>;
  forget(id: string): void;
}

export function openDrift(kube: Pick<Kube, 'patch'>): Drift {
  // A dry run costs the API server as much as a write, and a runtime that is coming is looked at every second.
  /** By runtime: objects that were found as applied, each with what it was compared with. */
  const compared = new Map<string, Set<string>>();

  async function isChanged({ resource, object, live }: ComparedObject, signal: AbortSignal): Promise<boolean> {
    const apply = { ...OURS, apply: object, isDryRun: true };
    const after = await kube.patch(resource, object.metadata, apply, signal).catch(unlessInvalid);
    return !(after && isDeepStrictEqual(comparable(after), comparable(live)));
  }

  return {
    isApplied(id, wanted, answer) {
      compared.set(id, (compared.get(id) ?? new Set()).add(fingerprint(wanted, answer)));
    },
    async changedByOthers(id, objects, signal) {
      const known = compared.get(id);
      const equal = new Set<string>();
      for (const one of objects) {
        const print = fingerprint(one.object, one.live);
        if (!known?.has(print) && (await isChanged(one, signal))) return one;
        equal.add(print);
      }
      compared.set(id, equal);
      return undefined;
    },
    forget: (id) => void compared.delete(id),
  };
}

const unlessInvalid = (thrown: unknown): undefined => void refusedAsInvalid(thrown);

const fingerprint = (wanted: KubeObject, live: KubeObject): string =>
  createHash('sha256')
    .update(JSON.stringify([wanted, comparable(live)]))
    .digest('base64');

/** An object without what every write changes, or what controllers write. */
function comparable(object: KubeObject): unknown {
  const { metadata, status: _status, apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { metadata: kept, ...rest };
}
