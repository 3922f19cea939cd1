// Writing what should be, and only where it is not so already.
import { isDeepStrictEqual } from 'node:util';
import type { Kube } from './client.ts';
import type { KubeObject } from './object.ts';
import type { KubeResource } from './resource.ts';

/** Under this name the API server remembers which fields are ours. */
export const OUR_FIELDS = 'muster';

/** Makes the object, or brings our fields of it to this; fields of others stay, ours that are left out go. */
export function applyObject(
  kube: Pick<Kube, 'patch'>,
  resource: KubeResource,
  object: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  return kube.patch(resource, { name, namespace }, { apply: object, fieldOwner: OUR_FIELDS, isForced: true }, signal);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The merge patch (RFC 7386) from one value to another; nothing where they are alike. */
export function mergePatch(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[key], to[key]];
    if (isDeepStrictEqual(before, after)) continue;
    if (isRecord(before) && isRecord(after)) {
      const inner = mergePatch(before, after);
      if (inner) patch[key] = inner;
    } else patch[key] = after ?? null;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

// What the wire would make of it: undefined goes.
const asSent = (status: object): Readonly<Record<string, unknown>> => JSON.parse(JSON.stringify(status));

/**
 * Writes the status of an object where it differs from what the object shows; a quiet cluster sees no write. Stale where
 * the object has changed since it was read. False: nothing was to be written.
 */
export async function writeStatus(
  kube: Pick<Kube, 'patch'>,
  resource: KubeResource,
  object: KubeObject,
  status: object,
  signal: AbortSignal,
): Promise<boolean> {
  const shown = isRecord(object.status) ? object.status : {};
  const change = mergePatch(shown, asSent(status));
  if (change === undefined) return false;
  const { name, namespace, resourceVersion } = object.metadata;
  // The difference holds for the object that it was made from: the API server refuses it as stale for any other.
  const merge = { metadata: { resourceVersion }, status: change };
  await kube.patch(resource, { name, namespace, subresource: 'status' }, { merge }, signal);
  return true;
}
