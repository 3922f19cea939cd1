// Empties namespaces that are deleted, and gives new ones what every namespace has.
import { storageOf } from '../api/resource.ts';
import { type KubeObject, listOf, timestamp } from '../objects/object.ts';
import { newUid } from '../objects/uid.ts';
import type { World } from '../world.ts';
import { removeObject } from '../writes/delete.ts';

const STORAGE = '/namespaces';
const PLAIN = { graceSeconds: undefined, propagation: undefined };

/** Deletes all in it; true when nothing is left. */
function isEmptied(world: World, name: string): boolean {
  let isEmpty = true;
  const resources = world.registry.all().filter(({ isNamespaced, conversion }) => isNamespaced && !conversion);
  for (const resource of resources) {
    for (const object of world.store.list(storageOf(resource), name)) {
      if (object.metadata.deletionTimestamp === undefined) removeObject(world, resource, object, PLAIN);
      isEmpty &&= world.store.get(storageOf(resource), name, object.metadata.name) === undefined;
    }
  }
  return isEmpty;
}

function addSeedObjects({ store, random, clock }: World, namespace: string): void {
  const draft = (kind: string, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: {
      name,
      namespace,
      uid: newUid(random),
      resourceVersion: '',
      creationTimestamp: timestamp(clock.now()),
    },
  });
  store.add('/serviceaccounts', draft('ServiceAccount', 'default'));
}

export function runNamespaceController(world: World): void {
  const { store, clock, behaviour } = world;
  const going = new Set<string>();

  function look(name: string): void {
    const found = store.get(STORAGE, undefined, name);
    if (!found?.metadata.deletionTimestamp) return void going.delete(name);
    if (!isEmptied(world, name)) return;
    going.delete(name);
    const last = { ...found, spec: { ...found.spec, finalizers: [] } };
    if ((found.metadata.finalizers ?? []).length === 0) store.remove(STORAGE, last);
    else if (listOf(found.spec?.finalizers).length > 0) store.replace(STORAGE, last);
  }

  const soon = (name: string): void => void clock.alarm(behaviour.collectMs, () => look(name));

  store.watch(({ type, storage, object }) => {
    const { name, namespace, deletionTimestamp } = object.metadata;
    if (storage === STORAGE && type === 'ADDED') return addSeedObjects(world, name);
    if (storage === STORAGE && type === 'MODIFIED' && deletionTimestamp !== undefined && !going.has(name)) {
      going.add(name);
      return soon(name);
    }
    if (type === 'DELETED' && namespace !== undefined && going.has(namespace)) soon(namespace);
  });
}
