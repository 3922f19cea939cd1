import type { Clock } from '#core/clock.ts';
import { type Limits, noLimits } from '#fakes/limits.ts';
import type { GcpCall } from '../read-call.ts';
import type { FakeGroup } from './group.ts';
import type { FakeDisk, MadeImage } from './image-building.ts';
import type { FakeInstance } from './instance.ts';
import type { FakeOperation } from './operations.ts';
import { openReferences, type References } from './references.ts';
import { FAMILIES, GROUPS, PROJECT, TEMPLATES } from './seed-data.ts';

export interface ComputeBehaviour {
  /** The most items on a page; 500 is the most that Google allows. */
  pageSize: number;
  /** How late listings show what was made. */
  lagMs: number;
  /** From creation until it runs. */
  bootMs: number;
  /** From the call to delete it until it is gone. */
  endMs: number;
  /** From a request that is agreed to until it turns out that it cannot be met. */
  lateMs: number;
  /** From the notice of a preemption until the end. */
  noticeMs: number;
}

/** The template of a group. */
export interface FakeTemplate {
  readonly id: string;
  readonly machineType: string;
  readonly isSpot: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of whatever else the instances have: disks, accelerators. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** All that this Compute Engine has; tests change it as they go. */
export interface ComputeState {
  readonly clock: Clock;
  readonly behaviour: ComputeBehaviour;
  limits: Limits<GcpCall>;
  /** All that ever were. */
  readonly instances: FakeInstance[];
  /** By `<project>/<place>/<name>`. */
  readonly groups: Map<string, FakeGroup>;
  /** By `<project>/<name>`. */
  readonly templates: Map<string, FakeTemplate>;
  /** By `<project>/<family>`: its newest image. */
  readonly families: Map<string, string>;
  /** Images that were taken from disks, the oldest first. */
  readonly made: MadeImage[];
  /** Boot disks that do not go with their instance. */
  readonly disks: FakeDisk[];
  /** What properties of instances may refer to. */
  readonly references: References;
  readonly operations: Map<string, FakeOperation>;
  /** By request id: the operation that it began. */
  readonly requests: Map<string, FakeOperation>;
  /** By machine type and zone, `e2-small us-central1-a`: how many are left; absent: enough. */
  readonly stock: Map<string, number>;
  /** By region: how many CPUs a project may have; absent: enough. */
  readonly cpus: Map<string, number>;
  /** Zones that do not answer: listings of the whole project say so, and leave them out. */
  readonly silentZones: Set<string>;
  /** The next so many machines are promised and never come. */
  late: number;
  /** From now on resize requests wait; absent: each is granted at once. */
  isQueueHeld?: boolean;
  nextId(): string;
  changed(instance: FakeInstance): void;
  watch(heard: (instance: FakeInstance) => void): () => void;
}

const FIRST_ID = 4_500_000_000_000_000_000n;
const BEHAVIOUR: ComputeBehaviour = {
  pageSize: 500,
  lagMs: 0,
  bootMs: 2_000,
  endMs: 1_000,
  lateMs: 3_000,
  noticeMs: 30_000,
};

export function openCompute(clock: Clock): ComputeState {
  const watchers = new Set<(instance: FakeInstance) => void>();
  let serial = 0n;
  const nextId = (): string => {
    serial += 1n;
    return String(FIRST_ID + serial);
  };
  const templates = [...TEMPLATES].map(
    ([name, template]) => [`${PROJECT}/${name}`, { ...template, id: nextId(), metadata: {} }] as const,
  );
  const groups = GROUPS.map(([place, name, template]) => {
    const group: FakeGroup = {
      id: nextId(),
      project: PROJECT,
      place,
      name,
      template,
      autoscaler: undefined,
      isHealing: true,
      isRedistributed: false,
      isPaginated: true,
      managed: [],
      requests: [],
    };
    return [`${PROJECT}/${place}/${name}`, group] as const;
  });
  return {
    clock,
    behaviour: { ...BEHAVIOUR },
    limits: noLimits,
    instances: [],
    groups: new Map(groups),
    templates: new Map(templates),
    families: new Map(FAMILIES),
    made: [],
    disks: [],
    references: openReferences(),
    operations: new Map(),
    requests: new Map(),
    stock: new Map(),
    cpus: new Map(),
    silentZones: new Set(),
    late: 0,
    nextId,
    changed(instance) {
      for (const heard of watchers) heard(instance);
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}

// Compute Engine, "Rate quotas": 1,500 requests a minute for each project and group of methods.
const A_MINUTE = { size: 1_500, perSecond: 25 };

/** What the documentation says of every project. */
export const publishedLimits: Limits<GcpCall> = ({ service, action }) => {
  if (service !== 'compute') return [];
  const isReading = /\.(get|list|aggregatedList|listManagedInstances|wait)$/.test(action);
  return [{ limit: { bucket: isReading ? 'read' : 'write', ...A_MINUTE }, count: 1 }];
};
