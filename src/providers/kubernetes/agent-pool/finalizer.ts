// The finalizer of an AgentPool: while it stands, the API server keeps the deleted object.

import type { Kube } from '#kube/client.ts';
import { isObjectMissing } from '#kube/faults.ts';
import type { KubeObject } from '#kube/object.ts';
import { AGENT_POOLS, FINALIZER } from './resource.ts';

const PATH = '/metadata/finalizers';

const has = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(FINALIZER) ?? false;

/** The object as the API server has it now: what we know of it may be older. */
function readAgain(kube: Pick<Kube, 'get'>, { metadata }: KubeObject, signal: AbortSignal) {
  return kube.get(AGENT_POOLS, { namespace: metadata.namespace, name: metadata.name }, signal);
}

/** Adds ours beside those of others; an object that is being deleted takes no new ones. */
export async function addFinalizer(kube: Kube, object: KubeObject, signal: AbortSignal): Promise<void> {
  const found = await readAgain(kube, object, signal);
  if (!found || has(found) || found.metadata.deletionTimestamp !== undefined) return;
  await patchFinalizers(kube, found, [...(found.metadata.finalizers ?? []), FINALIZER], signal);
}

/** Removes ours and leaves those of others; repeating is safe. */
export async function removeFinalizer(kube: Kube, object: KubeObject, signal: AbortSignal): Promise<void> {
  const found = await readAgain(kube, object, signal);
  if (!found || !has(found) || found.metadata.uid !== object.metadata.uid) return;
  const left = (found.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  await patchFinalizers(kube, found, left, signal);
}

/** Refused where anybody has changed the object since it was read. */
async function patchFinalizers(
  kube: Kube,
  { metadata }: KubeObject,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, resourceVersion } = metadata;
  const json = [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } as const,
    { op: metadata.finalizers ? 'replace' : 'add', path: PATH, value: finalizers } as const,
  ];
  try {
    await kube.patch(AGENT_POOLS, { name, namespace }, { json }, signal);
  } catch (thrown) {
    if (!isObjectMissing(thrown)) throw thrown;
  }
}
