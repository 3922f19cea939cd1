// Which Muster cluster an AgentPool belongs to: the one whose finalizer it has. Two that read it would fight over its status
// and make its pods twice.
import type { KubeObject } from '#kube/object.ts';

const PREFIX = 'muster.io/drain-';

/** Keeps an object until the last pod of its pool is gone; names the Muster cluster that has the pool. */
export const finalizerOf = (cluster: string): string => `${PREFIX}${cluster}`;

/** The finalizers of Muster on an object, of whichever cluster. */
export const ourFinalizers = ({ metadata }: KubeObject): readonly string[] =>
  metadata.finalizers?.filter((name) => name.startsWith(PREFIX)) ?? [];

/** The other Muster cluster that has the pool of an object; the first of several finalizers counts. */
export function otherOwnerOf(object: KubeObject, cluster: string): string | undefined {
  const owner = ourFinalizers(object)[0]?.slice(PREFIX.length);
  return owner === cluster ? undefined : owner;
}

const SHOWN = 3;

/** What the operator of this cluster reads in `muster source ls` about objects that another one has. */
export function ownerNotes(objects: readonly KubeObject[], cluster: string): readonly string[] {
  const byOwner = Map.groupBy(objects, (object) => otherOwnerOf(object, cluster));
  return [...byOwner].flatMap(([owner, owned]) => {
    if (owner === undefined) return [];
    const names = owned.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).toSorted();
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
    return [
      `Muster cluster ${owner} has the pool of ${names.slice(0, SHOWN).join(', ')}${more}; it is ignored here. ` +
        'If that cluster no longer exists, run `muster kube release`.',
    ];
  });
}
