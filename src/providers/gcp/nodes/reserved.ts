// What a node keeps for itself: the amounts that GKE publishes in "Plan GKE Standard node sizes".
import type { NodeTemplate } from '#core/node-group.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** In that part of a capacity, so many thousandths are kept back. */
type Bracket = readonly [from: number, perThousand: number];

// GKE counts a thousand MiB as a gigabyte here.
const MEMORY_MIB: readonly Bracket[] = [
  [0, 250],
  [4_000, 200],
  [8_000, 100],
  [16_000, 60],
  [128_000, 20],
];
const CPU_THOUSANDTHS: readonly Bracket[] = [
  [0, 60],
  [1_000, 10],
  [2_000, 5],
  [4_000, 2.5],
];

function reservedOf(capacity: number, brackets: readonly Bracket[]): number {
  const sum = brackets.reduce((total, [from, perThousand], at) => {
    const to = Math.min(capacity, brackets[at + 1]?.[0] ?? capacity);
    return total + Math.max(0, to - from) * perThousand;
  }, 0);
  return Math.floor(sum / 1_000);
}

const LEAST_RESERVED_MIB = 255;
const EVICTION_BYTES = 100 * MIB;

function memoryReserved(bytes: number): number {
  const mib = Math.floor(bytes / MIB);
  return (mib <= 1_000 ? LEAST_RESERVED_MIB : reservedOf(mib, MEMORY_MIB)) * MIB;
}

/** What the kernel takes before the kubelet counts: a 64th, 16 MiB, and 64 MiB for addresses of 64 bits. */
const kernelReserved = (bytes: number): number => Math.floor(bytes / 64) + 16 * MIB + (bytes > 3 * GIB ? 64 * MIB : 0);

const storageReserved = (gib: number): number => Math.min(Math.floor(gib / 2), 6 + Math.floor(gib * 0.35), 100) * GIB;

/** What a machine has. */
export interface Capacity {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskGib?: number | undefined;
  readonly gpus: number;
}

/** By the names of pods, in whole numbers, as they are in a template of nodes. */
export type Amounts = NodeTemplate['allocatable'];

const PODS = 110;

/** What pods get of a machine. What its own configuration says that it keeps, `said`, counts instead of the published amounts. */
export function allocatableOf({ cpus, memoryBytes, diskGib, gpus }: Capacity, said: Amounts = {}): Amounts {
  const {
    cpu = reservedOf(cpus * 1_000, CPU_THOUSANDTHS),
    memory = memoryReserved(memoryBytes),
    'ephemeral-storage': storage = storageReserved(diskGib ?? 0),
  } = said;
  const seenMemory = memoryBytes - kernelReserved(memoryBytes);
  const disk = (diskGib ?? 0) * GIB;
  // The kubelet evicts pods below a tenth of the disk.
  const storageLeft = disk - storage - Math.ceil(disk / 10);
  return {
    cpu: Math.max(0, Math.floor(cpus * 1_000 - cpu)),
    memory: Math.max(0, Math.floor(seenMemory - memory - EVICTION_BYTES)),
    pods: PODS,
    ...(diskGib !== undefined && { 'ephemeral-storage': Math.max(0, Math.floor(storageLeft)) }),
    ...(gpus > 0 && { 'nvidia.com/gpu': gpus }),
  };
}
