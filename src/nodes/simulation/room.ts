// A node as room for pods: one that is there, one that is coming, or one that could be asked for.
import type { NodeTaint } from '#core/node-group.ts';
import type { Amounts } from './amounts.ts';
import { type PodClass, tolerates } from './pod-class.ts';
import { type Labels, selectsNode } from './selectors.ts';

/** In the order in which pods are packed into it. */
export const ROOM_KINDS = ['ready', 'tainted', 'coming', 'new'] as const;
export type RoomKind = (typeof ROOM_KINDS)[number];

/** A node with what is left on it; `addTo` and `take` change it. */
export interface PodRoom {
  readonly name: string;
  readonly kind: RoomKind;
  readonly labels: Labels;
  readonly taints: readonly NodeTaint[];
  readonly free: Record<string, number>;
  readonly ports: Set<string>;
  /** How many pods of each class are there. */
  readonly pods: Map<PodClass, number>;
}

export function openPodRoom(node: {
  readonly name: string;
  readonly kind: RoomKind;
  readonly labels: Labels;
  readonly taints: readonly NodeTaint[];
  readonly allocatable: Amounts;
}): PodRoom {
  const { allocatable, ...rest } = node;
  return { ...rest, free: { ...allocatable }, ports: new Set(), pods: new Map() };
}

export function addTo(room: PodRoom, pod: PodClass): void {
  for (const [name, asked] of Object.entries(pod.requests)) room.free[name] = (room.free[name] ?? 0) - asked;
  for (const port of pod.hostPorts) room.ports.add(port);
  room.pods.set(pod, (room.pods.get(pod) ?? 0) + 1);
}

export function take(room: PodRoom, pod: PodClass): void {
  for (const [name, asked] of Object.entries(pod.requests)) room.free[name] = (room.free[name] ?? 0) + asked;
  for (const port of pod.hostPorts) room.ports.delete(port);
  const left = (room.pods.get(pod) ?? 0) - 1;
  if (left > 0) room.pods.set(pod, left);
  else room.pods.delete(pod);
}

/** Two ports clash at the same address, or where one of them is at all addresses. */
function clashes(port: string, taken: ReadonlySet<string>): boolean {
  if (taken.size === 0) return false;
  if (taken.has(port)) return true;
  const [protocol, ip, number] = port.split(' ');
  return [...taken].some((other) => {
    const [otherProtocol, otherIp, otherNumber] = other.split(' ');
    return protocol === otherProtocol && number === otherNumber && (ip === '0.0.0.0' || otherIp === '0.0.0.0');
  });
}

/** Whether labels, name and taints of the node let such pods in: does not change with the pods that are there. */
export function admits({ name, labels, taints }: Pick<PodRoom, 'name' | 'labels' | 'taints'>, pod: PodClass): boolean {
  for (const key in pod.nodeSelector) if (labels[key] !== pod.nodeSelector[key]) return false;
  return selectsNode(pod.nodeTerms, { name, labels }) && tolerates(pod, taints);
}

/** The first resource that is too scarce, or that its ports are taken; undefined where there is room. */
export function lackIn(room: PodRoom, pod: PodClass): string | undefined {
  for (const name in pod.requests) {
    const asked = pod.requests[name] ?? 0;
    if (asked > 0 && asked > (room.free[name] ?? 0)) return name;
  }
  return pod.hostPorts.some((port) => clashes(port, room.ports)) ? 'a free host port' : undefined;
}
