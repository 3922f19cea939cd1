import { randomUUID } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { type Limits, noLimits } from '#fakes/limits.ts';
import type { GcpCall } from '../read-call.ts';
import { change, type FakeFailure, type FakeService, isGone, type WantedService } from './service.ts';

export interface RunBehaviour {
  /** The most items on a page. */
  pageSize: number;
  /** How late listings show what was made. */
  lagMs: number;
  /** From creation until it serves. */
  bootMs: number;
  /** From creation until it turns out that it cannot serve. */
  lateMs: number;
  /** From the call to delete it until it is gone. */
  endMs: number;
}

/** All that this Cloud Run has; tests change it as they go. */
export interface RunState {
  readonly clock: Clock;
  readonly behaviour: RunBehaviour;
  limits: Limits<GcpCall>;
  /** All that ever were. */
  readonly services: FakeService[];
  readonly operations: Map<string, FakeRunOperation>;
  /** Images that no registry has. */
  readonly missingImages: Set<string>;
  /** Images that Cloud Run may not pull. */
  readonly privateImages: Set<string>;
  /** Images whose containers listen on no port. */
  readonly deafImages: Set<string>;
  /** By region: how many thousandths of a processor a project may have; absent: enough. */
  readonly cpus: Map<string, number>;
  readonly serviceAccounts: Set<string>;
  /** The next so many services are promised and never come up. */
  late: number;
  changed(service: FakeService): void;
  /** Called with each service that was made or whose states to come have changed. */
  watch(heard: (service: FakeService) => void): () => void;
}

export interface FakeRunOperation {
  readonly name: string;
  readonly service: FakeService;
  readonly what: 'create' | 'delete';
}

const BEHAVIOUR: RunBehaviour = { pageSize: 500, lagMs: 0, bootMs: 2_000, lateMs: 4_000, endMs: 1_500 };

const NO_ROOM: FakeFailure = {
  code: 8,
  revisionReason: 'MIN_INSTANCES_NOT_PROVISIONED',
  message: 'The minimum number of instances could not be provisioned.',
};

export function openRun(clock: Clock): RunState {
  const watchers = new Set<(service: FakeService) => void>();
  return {
    clock,
    behaviour: { ...BEHAVIOUR },
    limits: noLimits,
    services: [],
    operations: new Map(),
    missingImages: new Set(),
    privateImages: new Set(),
    deafImages: new Set(),
    cpus: new Map(),
    serviceAccounts: new Set(['workers@my-project.iam.gserviceaccount.com']),
    late: 0,
    changed(service) {
      for (const heard of watchers) heard(service);
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}

/** Why a service that was agreed to will not come up. */
function failureOf(state: RunState, { template }: WantedService): FakeFailure | undefined {
  const [{ image = '', ports = [] } = {}] = template?.containers ?? [];
  if (state.missingImages.has(image))
    return { code: 5, reason: 'CONTAINER_MISSING', message: `Image '${image}' not found.` };
  if (state.privateImages.has(image)) {
    const message = `Google Cloud Run Service Agent must have permission to read the image, ${image}.`;
    return { code: 7, reason: 'CONTAINER_PERMISSION_DENIED', message };
  }
  if (state.deafImages.has(image)) {
    const message = `The user-provided container failed to start and listen on the port defined provided by the PORT=${ports[0]?.containerPort} environment variable within the allocated timeout.`;
    return { code: 9, revisionReason: 'HEALTH_CHECK_CONTAINER_ERROR', message };
  }
  if (state.late === 0) return undefined;
  state.late -= 1;
  return NO_ROOM;
}

export type ServicePlace = Pick<FakeService, 'project' | 'region' | 'id'>;

export function makeService(state: RunState, place: ServicePlace, wanted: WantedService): FakeService {
  const { clock, behaviour } = state;
  const madeAtMs = clock.now();
  const failure = failureOf(state, wanted);
  const end = failure
    ? ({ atMs: madeAtMs + behaviour.lateMs, state: 'FAILED' } as const)
    : ({ atMs: madeAtMs + behaviour.bootMs, state: 'READY' } as const);
  const service: FakeService = {
    ...place,
    ...{ uid: randomUUID(), wanted, madeAtMs, failure, deletedAtMs: undefined, isEnding: false, containers: 1 },
    timeline: [{ atMs: madeAtMs, state: 'RECONCILING' }, end],
  };
  state.services.push(service);
  state.changed(service);
  return service;
}

/** Somebody deletes it. */
export function endService(state: RunState, service: FakeService): void {
  const atMs = state.clock.now();
  if (service.deletedAtMs !== undefined || isGone(service, atMs)) return;
  service.deletedAtMs = atMs;
  change(service, [
    { atMs, state: 'DELETING' },
    { atMs: atMs + state.behaviour.endMs, state: 'GONE' },
  ]);
  state.changed(service);
}

/** Its container has come to its end: Cloud Run starts another in its place, which ends at once too. */
export function endContainer(state: RunState, service: FakeService): void {
  service.isEnding = true;
  state.changed(service);
}

/** Google puts another container in place of its own: the same service, with empty files. */
export function replaceContainer(state: RunState, service: FakeService): void {
  service.containers += 1;
  state.changed(service);
}

// Cloud Run, "Quotas and limits".
const READS = { bucket: 'run read', size: 3_000, perSecond: 50 };
const WRITES = { bucket: 'run write', size: 180, perSecond: 3 };

/** What the documentation says of every project, in each region. */
export const publishedRunLimits: Limits<GcpCall> = ({ action }) => {
  const isReading = /\.(get|list|wait)$/.test(action);
  return [{ limit: isReading ? READS : WRITES, count: 1 }];
};
