// Establishes custom resources, and withdraws them when their definition and all their objects have gone.
import { storageOf } from '../api/resource.ts';
import { type Fields, fieldsOf, isSame, type KubeObject, listOf, textOf, timestamp } from '../objects/object.ts';
import type { World } from '../world.ts';
import { removeObject } from '../writes/delete.ts';
import { store } from '../writes/replace.ts';
import { resourcesOf } from './custom-resource.ts';

const CRDS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const condition = (type: string, reason: string, message: string, nowMs: number): Fields => ({
  type,
  status: 'True',
  lastTransitionTime: timestamp(nowMs),
  reason,
  message,
});

function established({ spec, metadata, status, ...rest }: KubeObject, nowMs: number): KubeObject {
  const stored = listOf(spec?.versions)
    .map(fieldsOf)
    .find(({ storage }) => storage === true);
  const known = listOf(status?.conditions);
  const conditions = [
    condition('NamesAccepted', 'NoConflicts', 'no conflicts found', nowMs),
    condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', nowMs),
  ];
  const names = fieldsOf(spec?.names);
  const kind = textOf(names.kind);
  return {
    ...rest,
    metadata: { ...metadata, finalizers: [...new Set([...(metadata.finalizers ?? []), CLEANUP])] },
    spec: { ...spec, conversion: spec?.conversion ?? { strategy: 'None' } },
    status: {
      conditions: known.length > 0 ? known : conditions,
      acceptedNames: { listKind: `${kind}List`, singular: kind.toLowerCase(), ...names },
      storedVersions: [textOf(stored?.name)],
    },
  } as KubeObject;
}

/** Deletes what is left of the resource; true when nothing is. */
function isEmptied(world: World, { spec }: KubeObject): boolean {
  const [group, plural] = [textOf(spec?.group), textOf(fieldsOf(spec?.names).plural)];
  const resource = world.registry.byStorage(group, plural);
  if (!resource) return true;
  for (const object of world.store.list(storageOf(resource))) {
    if (object.metadata.deletionTimestamp === undefined) {
      removeObject(world, resource, object, { graceSeconds: undefined, propagation: undefined });
    }
  }
  return world.store.list(storageOf(resource)).length === 0;
}

export function runCrdController(world: World): void {
  const { registry, clock } = world;
  const resource = registry.byStorage(CRDS.group, CRDS.plural);
  if (!resource) return;
  const storage = storageOf(CRDS);

  function release(name: string): void {
    const found = world.store.get(storage, undefined, name);
    if (!found?.metadata.finalizers?.includes(CLEANUP) || !isEmptied(world, found)) return;
    const finalizers = found.metadata.finalizers.filter((one) => one !== CLEANUP);
    if (resource) store(world, resource, { ...found, metadata: { ...found.metadata, finalizers } });
  }

  function look(definition: KubeObject): void {
    if (definition.metadata.deletionTimestamp !== undefined) return release(definition.metadata.name);
    const made = established(definition, clock.now());
    const [first, ...others] = resourcesOf(made);
    if (first) registry.serve(first.group, first.plural, [first, ...others]);
    if (!isSame(made, definition)) world.store.replace(storage, made);
  }

  const lookAt = (name: string): void => {
    const newest = world.store.get(storage, undefined, name);
    if (newest) look(newest);
  };
  const withdraw = ({ spec }: KubeObject): void =>
    registry.withdraw(textOf(spec?.group), textOf(fieldsOf(spec?.names).plural));

  world.store.watch(({ type, storage: changed, object }) => {
    if (changed === storage) return type === 'DELETED' ? withdraw(object) : lookAt(object.metadata.name);
    if (type !== 'DELETED') return;
    for (const { metadata } of world.store.list(storage)) if (metadata.deletionTimestamp) release(metadata.name);
  });
}
