// The garbage collector: what belongs to an owner goes with it, before it or after it, or is set free.
import type { Resource } from '../api/resource.ts';
import type { KubeObject, Meta } from '../objects/object.ts';
import type { World } from '../world.ts';
import { removeObject } from '../writes/delete.ts';
import { store } from '../writes/replace.ts';

interface Place {
  readonly storage: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

function resourceOf({ registry }: World, storage: string): Resource | undefined {
  const slash = storage.lastIndexOf('/');
  return registry.byStorage(storage.slice(0, slash), storage.slice(slash + 1));
}

const withoutFinalizer = (object: KubeObject, finalizer: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, finalizers: (object.metadata.finalizers ?? []).filter((one) => one !== finalizer) },
});

const disowned = (object: KubeObject, uid: string): KubeObject => {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((one) => one.uid !== uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
};

export function runGarbageCollector(world: World): void {
  const { clock, behaviour } = world;
  /** By the uid of the owner, those that name it, by their own uid. */
  const owned = new Map<string, Map<string, Place>>();
  const alive = new Map<string, Place>();

  const find = ({ storage, namespace, name }: Place): KubeObject | undefined =>
    world.store.get(storage, namespace, name);

  function dependents(uid: string): { place: Place; object: KubeObject }[] {
    return [...(owned.get(uid)?.values() ?? [])].flatMap((place) => {
      const object = find(place);
      return object?.metadata.ownerReferences?.some((one) => one.uid === uid) ? [{ place, object }] : [];
    });
  }

  function remove({ storage }: Place, object: KubeObject): void {
    const resource = resourceOf(world, storage);
    if (!resource || object.metadata.deletionTimestamp !== undefined) return;
    removeObject(world, resource, object, { graceSeconds: undefined, propagation: undefined });
  }

  /** The owner is gone: dependents without another owner go too. */
  function collect(uid: string): void {
    for (const { place, object } of dependents(uid)) {
      const isKept = object.metadata.ownerReferences?.some((one) => one.uid !== uid && alive.has(one.uid));
      if (isKept) world.store.replace(place.storage, disowned(object, uid));
      else remove(place, object);
    }
    owned.delete(uid);
  }

  /** The owner waits for those that block it, or lets all of them go free. */
  function release(place: Place): void {
    const owner = find(place);
    const resource = resourceOf(world, place.storage);
    if (!owner?.metadata.deletionTimestamp || !resource) return;
    const { uid, finalizers = [] } = owner.metadata;
    if (finalizers.includes(ORPHAN)) {
      for (const one of dependents(uid)) world.store.replace(one.place.storage, disowned(one.object, uid));
      return void store(world, resource, withoutFinalizer(owner, ORPHAN));
    }
    if (!finalizers.includes(FOREGROUND)) return;
    for (const one of dependents(uid)) remove(one.place, one.object);
    const isBlocked = dependents(uid).some(({ object }) =>
      object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion === true),
    );
    if (!isBlocked) store(world, resource, withoutFinalizer(owner, FOREGROUND));
  }

  function note({ uid, ownerReferences = [] }: Meta, place: Place): void {
    alive.set(uid, place);
    for (const { uid: owner } of ownerReferences) {
      const those = owned.get(owner) ?? new Map<string, Place>();
      owned.set(owner, those.set(uid, place));
    }
  }

  const soon = (run: () => void): void => void clock.alarm(behaviour.collectMs, run);

  function forget({ uid, ownerReferences = [] }: Meta): void {
    alive.delete(uid);
    if (owned.has(uid)) soon(() => collect(uid));
    for (const owner of ownerReferences.flatMap((one) => alive.get(one.uid) ?? [])) soon(() => release(owner));
  }

  /** Its owner went while it was made. */
  function collectLate({ ownerReferences = [] }: Meta): void {
    for (const owner of ownerReferences) if (!alive.has(owner.uid)) soon(() => collect(owner.uid));
  }

  world.store.watch(({ type, storage, object: { metadata } }) => {
    if (type === 'DELETED') return forget(metadata);
    const { namespace, name, finalizers = [], deletionTimestamp } = metadata;
    const place = { storage, namespace, name };
    note(metadata, place);
    if (type === 'ADDED') collectLate(metadata);
    const isWaiting = finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN);
    if (deletionTimestamp !== undefined && isWaiting) soon(() => release(place));
  });
}
