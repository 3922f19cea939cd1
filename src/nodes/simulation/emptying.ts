// Empties rooms one after the other, as far as their pods fit into the others.
import { openRoomsByFree } from './best-fit.ts';
import { compareSize, obstacleIn } from './pack.ts';
import type { PodClass } from './pod-class.ts';
import { addTo, type PodRoom, take } from './room.ts';
import { openTopology } from './topology.ts';

export interface MovablePod {
  readonly key: string;
  readonly class: PodClass;
}

export interface EmptyingInput {
  /** Where pods may go; they are changed. */
  readonly rooms: readonly PodRoom[];
  /** Where none may go, and whose pods are neighbours. */
  readonly others: readonly PodRoom[];
  /** By which amount pods and rooms are put in order: `nvidia.com/gpu`. */
  readonly gpu: string;
}

export interface Emptying {
  /**
   * Moves these pods out of the room, and those that came to it from rooms emptied before; from then on none may go to it.
   * Answers the first pod that has no place, and then nothing has changed.
   */
  empty(room: PodRoom, pods: readonly MovablePod[]): MovablePod | undefined;
  /** Finds places for pods that are in no room; those that find none are left out. */
  reserve(pods: readonly MovablePod[]): void;
  /** The room that the pod was moved to. */
  placeOf(pod: MovablePod): PodRoom | undefined;
}

export function openEmptying({ rooms, others, gpu }: EmptyingInput): Emptying {
  const topology = openTopology([...rooms, ...others]);
  const open = openRoomsByFree(gpu);
  for (const room of rooms) open.add(room);
  const places = new Map<MovablePod, PodRoom>();
  const arrived = new Map<PodRoom, Set<MovablePod>>();

  function change(room: PodRoom, pod: PodClass, by: 1 | -1): void {
    const isOpen = open.has(room);
    if (isOpen) open.remove(room);
    if (by === 1) addTo(room, pod);
    else take(room, pod);
    topology.changed(room, pod, by);
    if (isOpen) open.add(room);
  }

  const placeFor = (pod: PodClass): PodRoom | undefined =>
    open.fullest(pod, (room) => obstacleIn(room, pod, topology) === undefined);

  function arrive(pod: MovablePod, room: PodRoom): void {
    change(room, pod.class, 1);
    places.set(pod, room);
    const there = arrived.get(room);
    if (there) there.add(pod);
    else arrived.set(room, new Set([pod]));
  }

  function depart(pod: MovablePod, room: PodRoom): void {
    change(room, pod.class, -1);
    places.delete(pod);
    arrived.get(room)?.delete(pod);
  }

  /** Moves all of them; the first that has no place ends it, and those before it go back to nowhere. */
  function arriveAll(pods: readonly MovablePod[]): MovablePod | undefined {
    const moved: { readonly pod: MovablePod; readonly to: PodRoom }[] = [];
    for (const pod of pods) {
      const to = placeFor(pod.class);
      if (!to) {
        for (const back of moved.toReversed()) depart(back.pod, back.to);
        return pod;
      }
      arrive(pod, to);
      moved.push({ pod, to });
    }
    return undefined;
  }

  return {
    empty(room, pods) {
      const guests = [...(arrived.get(room) ?? [])];
      const all = [...pods, ...guests].toSorted((a, b) => compareSize(gpu, a.class, b.class));
      open.remove(room);
      for (const pod of all) depart(pod, room);
      const unplaced = arriveAll(all);
      if (unplaced) {
        for (const own of pods) change(room, own.class, 1);
        for (const guest of guests) arrive(guest, room);
        open.add(room);
      }
      return unplaced;
    },
    reserve(pods) {
      for (const pod of pods.toSorted((a, b) => compareSize(gpu, a.class, b.class))) arriveAll([pod]);
    },
    placeOf: (pod) => places.get(pod),
  };
}
