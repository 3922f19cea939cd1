// Rooms by how much of one resource is free in each: a pod goes where the least stays free.
import type { PodClass } from './pod-class.ts';
import type { PodRoom } from './room.ts';

export interface RoomsByFree {
  add(room: PodRoom): void;
  /** What is free in a room changes only while the room is not here. */
  remove(room: PodRoom): void;
  has(room: PodRoom): boolean;
  /** The fullest of those that let the pod in. */
  fullest(pod: PodClass, letsIn: (room: PodRoom) => boolean): PodRoom | undefined;
}

export function openRoomsByFree(resource: string): RoomsByFree {
  const byFree = new Map<number, Set<PodRoom>>();
  const freeOf = new Map<PodRoom, number>();
  let amounts: number[] = [];

  return {
    add(room) {
      const free = room.free[resource] ?? 0;
      freeOf.set(room, free);
      const known = byFree.get(free);
      if (known) known.add(room);
      else {
        byFree.set(free, new Set([room]));
        amounts = [...byFree.keys()].toSorted((a, b) => a - b);
      }
    },
    remove(room) {
      const free = freeOf.get(room);
      if (free === undefined) return;
      freeOf.delete(room);
      byFree.get(free)?.delete(room);
    },
    has: (room) => freeOf.has(room),
    fullest(pod, letsIn) {
      const asked = pod.requests[resource] ?? 0;
      for (const free of amounts) {
        if (free < asked) continue;
        for (const room of byFree.get(free) ?? []) if (letsIn(room)) return room;
      }
      return undefined;
    },
  };
}
