// What a pass over one provisioner must know of the others: who comes first, what their groups have, whose pods are
// neighbours. Reads only.
import type { KubeObject } from '#kube/object.ts';
import { type AccountRooms, accountRooms } from './account-rooms.ts';
import type { NodeFact } from './cluster-objects.ts';
import type { ClusterView } from './cluster-view.ts';
import { addTo, openPodRoom, type PodRoom } from './simulation/room.ts';
import type { Snapshot } from './snapshot.ts';
import type { SeenGroup } from './survey.ts';

export interface Peers {
  /** Whether each of the others was looked at. */
  areSeen(name: string): boolean;
  /** The provisioners before it, or undefined while one of them has not been looked at. */
  earlierThan(object: KubeObject): readonly Snapshot[] | undefined;
  /** The room in the accounts of its groups; none while an object that may have nodes there was not looked at. */
  roomsOf(name: string, groups: readonly SeenGroup[]): AccountRooms;
  /** The nodes that are not its own, whose pods are neighbours. */
  otherRooms(name: string): readonly PodRoom[];
  /** The names of nodes of no provisioner that take pods. */
  takers(): ReadonlySet<string>;
}

const age = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;

export function openPeers(view: ClusterView, snapshots: ReadonlyMap<string, Snapshot>): Peers {
  const objects = (): KubeObject[] => [...view.provisioners.all().values()];

  const areSeen = (name: string): boolean =>
    objects().every(({ metadata }) => metadata.name === name || snapshots.has(metadata.name));

  return {
    areSeen,
    earlierThan(object) {
      const before = objects().filter((other) => age(other) < age(object));
      const seen = before.flatMap(({ metadata }) => snapshots.get(metadata.name) ?? []);
      return seen.length === before.length ? seen : undefined;
    },
    roomsOf(name, groups) {
      const others = [...snapshots.values()].filter((other) => other.name !== name);
      const rooms = accountRooms(groups, others);
      return areSeen(name)
        ? rooms
        : new Map([...rooms].map(([place, room]) => [place, Number.isFinite(room) ? 0 : room]));
    },
    otherRooms: (name) =>
      [...view.nodes.all().values()]
        .filter((fact) => fact.provisioner !== name)
        .map((fact) => {
          const room = openPodRoom({ ...fact, kind: 'ready' });
          for (const pod of view.podsOn(fact.name)) if (!pod.isEnded) addTo(room, pod.class);
          return room;
        }),
    takers() {
      const takesPods = ({ provisioner, isReady, isCordoned, deletionAt }: NodeFact): boolean =>
        provisioner === '' && isReady && !isCordoned && deletionAt === undefined;
      return new Set([...view.nodes.all().values()].filter(takesPods).map(({ name }) => name));
    },
  };
}
