// Finalizers keep an object until we are done with it. Others keep theirs in the same list and change it at any time.
import { Fault } from '#core/fault.ts';
import type { JsonOperation, Kube } from './client.ts';
import { isObjectMissing } from './faults.ts';
import type { KubeObject } from './object.ts';
import type { KubeResource } from './resource.ts';

type FinalizerClient = Pick<Kube, 'get' | 'patch'>;

export interface Finalizer {
  readonly name: string;
  /** An object of which this holds stays as it is, also where that came about a moment ago. */
  unless?(object: KubeObject): boolean;
}

// Each round has read the object anew; someone who changes it as often does nothing else.
const MOST_ROUNDS = 5;

type Wanted = Finalizer & { readonly isWanted: boolean };

/** Operations that hold only for the object and the list as they were read; the API server refuses them otherwise. */
function operationsFor(object: KubeObject, { name, isWanted, unless }: Wanted): JsonOperation[] | undefined {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const at = finalizers.indexOf(name);
  if (at >= 0 === isWanted || unless?.(object)) return undefined;
  // The list may have come about, or got our name from another server, since it was read: only that version may change.
  const isSame: JsonOperation[] = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  if (isWanted && finalizers.length > 0) return [...isSame, { op: 'add', path: '/metadata/finalizers/-', value: name }];
  if (isWanted) return [...isSame, { op: 'add', path: '/metadata/finalizers', value: [name] }];
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    // Other fields may change at will; the object goes all the same.
    { op: 'test', path: `/metadata/finalizers/${at}`, value: name },
    { op: 'remove', path: `/metadata/finalizers/${at}` },
  ];
}

/** A `test` that failed comes as 422 or, before 1.20, as 409; the object has changed since it was read. */
const hasChanged = (fault: Fault): boolean => ['invalid', 'stale', 'conflict'].includes(fault.kind);

async function change(
  kube: FinalizerClient,
  resource: KubeResource,
  object: KubeObject,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  let current: KubeObject | undefined = object;
  for (let round = 1; ; round++) {
    // One of the same name that was made since is another object.
    if (current === undefined || current.metadata.uid !== object.metadata.uid) return undefined;
    const json = operationsFor(current, wanted);
    if (json === undefined) return current;
    try {
      current = await kube.patch(resource, current.metadata, { json }, signal);
    } catch (thrown) {
      if (isObjectMissing(thrown)) return undefined;
      const fault = Fault.from(thrown);
      if (round === MOST_ROUNDS || !hasChanged(fault)) throw fault;
      current = await kube.get(resource, object.metadata, signal);
    }
  }
}

/** The object with our finalizer, or without it where `unless` holds; nothing where it is gone. One that is being deleted takes no new finalizer. */
export function addFinalizer(
  kube: FinalizerClient,
  resource: KubeResource,
  object: KubeObject,
  finalizer: Finalizer,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) return Promise.resolve(object);
  return change(kube, resource, object, { ...finalizer, isWanted: true }, signal);
}

/** Lets the object go; the finalizers of others stay. Repeating is safe. */
export async function removeFinalizer(
  kube: FinalizerClient,
  resource: KubeResource,
  object: KubeObject,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await change(kube, resource, object, { name, isWanted: false }, signal);
}
