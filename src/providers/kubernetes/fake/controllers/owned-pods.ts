// Which pods a workload has, without a look at all the others.
import { fieldsOf, type KubeObject } from '../objects/object.ts';
import { keyOf, type ObjectStore } from '../objects/store.ts';

const PODS = '/pods';

export interface OwnedPods {
  /** Those that name it as their owner. */
  of(uid: string): readonly KubeObject[];
  /** Those without an owner that its selector finds. */
  foundBy(workload: KubeObject): readonly KubeObject[];
}

export function openOwnedPods(store: ObjectStore): OwnedPods {
  const byOwner = new Map<string, Map<string, KubeObject>>();
  const free = new Map<string, KubeObject>();

  const placesOf = ({ metadata: { ownerReferences = [] } }: KubeObject): Map<string, KubeObject>[] => {
    if (ownerReferences.length === 0) return [free];
    return ownerReferences.map(({ uid }) => {
      const those = byOwner.get(uid) ?? new Map<string, KubeObject>();
      byOwner.set(uid, those);
      return those;
    });
  };

  store.watch(({ storage, type, object, previous }) => {
    if (storage !== PODS) return;
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    if (previous) for (const place of placesOf(previous)) place.delete(key);
    if (type !== 'DELETED') for (const place of placesOf(object)) place.set(key, object);
  });

  return {
    of: (uid) => [...(byOwner.get(uid)?.values() ?? [])],
    foundBy({ metadata: { namespace }, spec }) {
      const wanted = Object.entries(fieldsOf(fieldsOf(spec?.selector).matchLabels));
      if (wanted.length === 0) return [];
      return [...free.values()].filter(
        ({ metadata }) =>
          metadata.namespace === namespace && wanted.every(([key, value]) => metadata.labels?.[key] === value),
      );
    },
  };
}
