// Applying one object. The API server cannot merge or change everything: what it refuses to change is made anew, if ours is
// right and nothing of the user is lost by it.
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '#core/fault.ts';
import { applyObject, OUR_FIELDS } from '#kube/apply.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { CLAIMS, REMADE } from './names.ts';
import type { RuntimeObject } from './objects.ts';

export const OURS = { fieldOwner: OUR_FIELDS, isForced: true };

export function refusedAsInvalid(thrown: unknown): Fault {
  const fault = Fault.from(thrown);
  if (fault.kind === 'invalid') return fault;
  throw fault;
}

const selectorIn = ({ spec }: KubeObject): unknown => (spec as { readonly selector?: unknown } | undefined)?.selector;

/** Applies an object, and answers what the API server made of it. */
export async function applyOrRemake(
  kube: Pick<Kube, 'patch' | 'delete'>,
  one: RuntimeObject,
  living: KubeObject | undefined,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { resource, object } = one;
  const answer = await applyObject(kube, resource, object, signal).catch(refusedAsInvalid);
  if (!(answer instanceof Fault)) return answer;
  // A claim holds data.
  if (resource === CLAIMS) throw answer;
  const { name, namespace } = object.metadata;
  const fresh = { ...object, metadata: { ...object.metadata, name: `${name}-try` } };
  // Ours may be what is wrong: then the one that serves must stay.
  await kube.patch(resource, fresh.metadata, { ...OURS, apply: fresh, isDryRun: true }, signal).catch(() => {
    throw answer;
  });
  // The port is the key of an item of a Service: one that others changed stays beside ours, under the same name.
  if (REMADE.includes(resource)) {
    await kube.delete(resource, { namespace, name, propagationPolicy: 'Background' }, signal);
    return applyObject(kube, resource, object, signal);
  }
  // Pods that its selector finds again go on; it could never remove the others.
  const keepsPods = living !== undefined && isDeepStrictEqual(selectorIn(living), selectorIn(object));
  const propagationPolicy = keepsPods ? 'Orphan' : 'Background';
  await kube.delete(resource, { namespace, name, propagationPolicy }, signal);
  const what = `${resource.kind} ${name}`;
  throw new Fault('unavailable', `${what} is being replaced: a field of it can only be set anew.`);
}
