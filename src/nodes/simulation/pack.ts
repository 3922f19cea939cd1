// Packs pods into rooms, the largest first: into what is there, then what is coming, then nodes that would be asked for.
import type { PodClass } from './pod-class.ts';
import { addTo, admits, lackIn, type PodRoom, ROOM_KINDS } from './room.ts';
import { openTopology, type Topology } from './topology.ts';

/** Pods of one class that need a place, by any keys. */
export interface Demand {
  readonly pod: PodClass;
  readonly keys: readonly string[];
}

export interface PackInput {
  /** Where pods may go; they are filled. */
  readonly rooms: readonly PodRoom[];
  /** Nodes whose pods count as neighbours, and where none of these pods may go. */
  readonly others?: readonly PodRoom[] | undefined;
  readonly demands: readonly Demand[];
  /** By which amount pods and rooms are put in order: `nvidia.com/gpu`. */
  readonly gpu: string;
  /** One more new node of each kind that there may be: the first that lets a pod in is taken, and ends the look. */
  openRooms?(): Iterable<PodRoom>;
}

export interface Packing {
  readonly placed: ReadonlyMap<string, PodRoom>;
  /** Why each of the others has no place: `nvidia.com/gpu`, `its rules about other pods`. */
  readonly unplaced: ReadonlyMap<string, string>;
  /** The new nodes that it took. */
  readonly opened: readonly PodRoom[];
}

const amount = ({ requests }: PodClass, name: string): number => requests[name] ?? 0;

/** Large ones first: small ones fill what they leave. */
export const compareSize = (gpu: string, a: PodClass, b: PodClass): number =>
  amount(b, gpu) - amount(a, gpu) ||
  amount(b, 'memory') - amount(a, 'memory') ||
  amount(b, 'cpu') - amount(a, 'cpu') ||
  (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** Nodes that are there before those that are not; among these the fullest first. */
const byOrder =
  (gpu: string) =>
  (a: PodRoom, b: PodRoom): number =>
    ROOM_KINDS.indexOf(a.kind) - ROOM_KINDS.indexOf(b.kind) || (a.free[gpu] ?? 0) - (b.free[gpu] ?? 0);

/** What keeps such a pod from the room; undefined: it fits. */
export function obstacleIn(room: PodRoom, pod: PodClass, topology: Topology): string | undefined {
  if (!admits(room, pod)) return 'its node selector, affinity or tolerations';
  const lack = lackIn(room, pod);
  if (lack !== undefined) return lack;
  return topology.concerns(pod) && !topology.lets(room, pod) ? 'its rules about other pods' : undefined;
}

export function pack({ rooms, others = [], demands, gpu, openRooms }: PackInput): Packing {
  const ordered = rooms.toSorted(byOrder(gpu));
  const topology = openTopology([...ordered, ...others]);
  const placed = new Map<string, PodRoom>();
  const unplaced = new Map<string, string>();
  const opened: PodRoom[] = [];

  function settle(key: string, room: PodRoom, pod: PodClass): void {
    addTo(room, pod);
    topology.changed(room, pod, 1);
    placed.set(key, room);
  }

  /** Opens a node for the pod; answers why that is of no use to it. */
  function openFor(pod: PodClass): PodRoom | string {
    let why = 'no further node may be asked for';
    for (const room of openRooms?.() ?? []) {
      topology.opened(room);
      const obstacle = obstacleIn(room, pod, topology);
      if (obstacle === undefined) {
        ordered.push(room);
        opened.push(room);
        return room;
      }
      topology.closed(room);
      why = obstacle;
    }
    return why;
  }

  function findFrom(from: number, pod: PodClass): number {
    const asked = amount(pod, gpu);
    // Most rooms that are too full have too few GPUs.
    const isFitting = (room: PodRoom): boolean =>
      (room.free[gpu] ?? 0) >= asked && obstacleIn(room, pod, topology) === undefined;
    const at = ordered.findIndex((room, index) => index >= from && isFitting(room));
    return at === -1 ? ordered.length : at;
  }

  function place({ pod, keys }: Demand): void {
    let from = 0;
    for (const [at, key] of keys.entries()) {
      // A room that refuses such a pod for its own sake refuses the next one too; neighbours may change that.
      from = findFrom(topology.concerns(pod) ? 0 : from, pod);
      const room = ordered[from] ?? openFor(pod);
      if (typeof room === 'string') {
        // Nothing has changed for those that are like it.
        for (const rest of keys.slice(at)) unplaced.set(rest, room);
        return;
      }
      settle(key, room, pod);
    }
  }

  for (const demand of demands.toSorted((a, b) => compareSize(gpu, a.pod, b.pod))) place(demand);
  return { placed, unplaced, opened };
}

/** Pods by their class. */
export function demandsOf(pods: Iterable<{ readonly key: string; readonly pod: PodClass }>): readonly Demand[] {
  const byClass = new Map<PodClass, string[]>();
  for (const { key, pod } of pods) {
    const keys = byClass.get(pod);
    if (keys) keys.push(key);
    else byClass.set(pod, [key]);
  }
  return [...byClass].map(([pod, keys]) => ({ pod, keys }));
}
