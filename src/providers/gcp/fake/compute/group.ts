// Managed instance groups: they make instances by name, try for ever, and recreate under the same name what was lost.
import { refusal } from '#fakes/refusal.ts';
import { change, type FakeInstance, isGone, shownStatus, statusAt, urlOf } from './instance.ts';
import { endInstance, makeInstance } from './make.ts';
import type { FakeError } from './operations.ts';
import { type FakeResizeRequest, isOver } from './resize-request.ts';
import { REGION, regionOf, ZONES } from './seed-data.ts';
import type { ComputeState, FakeTemplate } from './state.ts';
import { takeRoom } from './stock.ts';

export interface FakeGroup {
  readonly id: string;
  readonly project: string;
  /** `zones/us-central1-a` or `regions/us-central1`. */
  readonly place: string;
  readonly name: string;
  template: string;
  /** The name of its own autoscaler. */
  autoscaler: string | undefined;
  /** Whether it recreates instances that were lost. */
  isHealing: boolean;
  /** Whether it moves instances among the zones of its region; Google's default for regional groups. */
  isRedistributed: boolean;
  /** Whether listings have pages. */
  isPaginated: boolean;
  readonly managed: FakeManaged[];
  readonly requests: FakeResizeRequest[];
  readonly description?: string | undefined;
  /** In place of its name, as what new instances are called. */
  readonly baseInstanceName?: string | undefined;
  /** What all instances get beside their template. */
  readonly allInstancesConfig?: {
    readonly properties?: {
      readonly labels?: Readonly<Record<string, string>>;
      readonly metadata?: Readonly<Record<string, string>>;
    };
  };
}

/** An instance as the group wants it. */
export interface FakeManaged {
  readonly name: string;
  readonly zone: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly madeAtMs: number;
  /** One after the other under the same name; some may be yet to come. */
  readonly incarnations: FakeInstance[];
  /** Why the last attempt to make it failed, and since when. */
  error: (FakeError & { readonly atMs: number }) | undefined;
  goneAtMs: number | undefined;
  /** When it ends by itself, and is no longer a part of the group. */
  readonly endsAtMs?: number | undefined;
}

export interface WantedInstance {
  readonly name: string;
  readonly preservedState?: { readonly metadata?: Readonly<Record<string, string>> };
}

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const MOST_IN_ONE_CALL = 1_000;
const RECREATE_MS = 2_000;

export const isThere = ({ goneAtMs, endsAtMs }: FakeManaged, nowMs: number): boolean =>
  nowMs < Math.min(goneAtMs ?? Number.POSITIVE_INFINITY, endsAtMs ?? Number.POSITIVE_INFINITY);

export const zonesOf = ({ place }: FakeGroup): readonly string[] => {
  const [places, at = REGION] = place.split('/');
  return places === 'zones' ? [at] : ZONES.filter((zone) => regionOf(zone) === at);
};

export function templateOf({ templates }: ComputeState, { project, template }: FakeGroup): FakeTemplate {
  const found = templates.get(`${project}/${template}`);
  if (!found) throw refusal('notFound', `The resource 'instanceTemplates/${template}' was not found`, 404);
  return found;
}

function attempt(state: ComputeState, group: FakeGroup, managed: FakeManaged): void {
  const { machineType } = templateOf(state, group);
  const { zone } = managed;
  const error = takeRoom(state, { project: group.project, zone, machineType });
  managed.error = error && { ...error, atMs: state.clock.now() + state.behaviour.lateMs };
  if (!error) managed.incarnations.push(makeInstance(state, instanceFor(state, group, managed)));
}

/** The instance that the group makes there. */
export function instanceFor(
  state: ComputeState,
  group: FakeGroup,
  managed: Pick<FakeManaged, 'name' | 'zone' | 'metadata'>,
) {
  const { machineType, isSpot, metadata } = templateOf(state, group);
  const { project, place, name, allInstancesConfig: { properties = {} } = {} } = group;
  const createdBy = { 'created-by': `projects/1/${place}/instanceGroupManagers/${name}` };
  return {
    ...{ project, zone: managed.zone, name: managed.name, machineType, isSpot },
    labels: { ...properties.labels },
    metadata: { ...createdBy, ...metadata, ...properties.metadata, ...managed.metadata },
  };
}

export function createManaged(state: ComputeState, group: FakeGroup, wanted: readonly WantedInstance[]): void {
  const nowMs = state.clock.now();
  if (wanted.length > MOST_IN_ONE_CALL) throw refusal('invalid', 'Too many instances in one request.');
  if (group.isRedistributed)
    throw refusal(
      'invalid',
      'CreateInstances can be used only when instance redistribution is disabled (set to NONE).',
    );
  const taken = new Set(group.managed.flatMap((one) => (isThere(one, nowMs) ? one.name : [])));
  for (const { name } of wanted) {
    if (!NAME.test(name)) throw refusal('invalid', `Invalid value for field 'instances[].name': '${name}'.`);
    if (taken.has(name)) throw refusal('alreadyExists', `The instance '${name}' already exists in the group.`, 409);
  }
  const zones = zonesOf(group);
  for (const { name, preservedState } of wanted) {
    const managed: FakeManaged = {
      name,
      zone: zones[group.managed.length % zones.length] ?? '',
      metadata: preservedState?.metadata ?? {},
      madeAtMs: nowMs,
      incarnations: [],
      error: undefined,
      goneAtMs: undefined,
    };
    group.managed.push(managed);
    attempt(state, group, managed);
  }
}

/** The group tries again what it could not make. */
export function retryFailed(state: ComputeState, group: FakeGroup): void {
  const nowMs = state.clock.now();
  for (const managed of group.managed)
    if (managed.error && isThere(managed, nowMs) && managed.goneAtMs === undefined) attempt(state, group, managed);
}

export function deleteManaged(state: ComputeState, group: FakeGroup, targets: readonly string[], isLenient: boolean) {
  const nowMs = state.clock.now();
  for (const target of targets) {
    const [, zone, name] = /zones\/([^/]+)\/instances\/([^/]+)$/.exec(target) ?? [];
    const managed = group.managed.find(
      (one) => one.name === name && one.zone === zone && one.goneAtMs === undefined && isThere(one, nowMs),
    );
    if (!managed) {
      if (isLenient) continue;
      throw refusal('invalid', `The instance '${target}' is not a member of the group.`);
    }
    managed.goneAtMs = nowMs + (managed.incarnations.length > 0 ? state.behaviour.endMs : 0);
    for (const instance of managed.incarnations) {
      // What was yet to come does not.
      if (instance.madeAtMs > nowMs) instance.timeline = [{ atMs: nowMs, state: 'GONE' }];
      endInstance(state, instance);
    }
  }
}

/** Google takes a spot machine back: first the notice on the machine, then the end; its group makes another. */
export function preempt(state: ComputeState, instance: FakeInstance): void {
  const atMs = state.clock.now();
  const endMs = atMs + state.behaviour.noticeMs;
  instance.preemptedAtMs = atMs;
  const group = [...state.groups.values()].find(({ managed }) =>
    managed.some(({ incarnations }) => incarnations.includes(instance)),
  );
  change(instance, [
    { atMs, state: 'PREEMPTING' },
    { atMs: endMs, state: group ? 'TERMINATED' : 'GONE' },
  ]);
  state.changed(instance);
  if (group?.isHealing) recreate(state, group, { instance, endMs });
}

/** The group replaces an instance by another of the same name, as it does with those that it takes for unhealthy. */
export function recreate(
  state: ComputeState,
  group: FakeGroup,
  { instance, endMs }: { readonly instance: FakeInstance; readonly endMs: number },
): void {
  const managed = group.managed.find(({ incarnations }) => incarnations.includes(instance));
  change(instance, [{ atMs: endMs, state: 'GONE' }]);
  state.changed(instance);
  managed?.incarnations.push(makeInstance(state, instance, endMs + RECREATE_MS));
}

function actionOf(managed: FakeManaged, nowMs: number): string {
  if (managed.goneAtMs !== undefined) return 'DELETING';
  const [first] = managed.incarnations;
  const next = managed.incarnations.findLast(({ timeline }) => timeline.length > 0);
  if (!first || !next) return 'CREATING';
  const isUp = ['RUNNING', 'PREEMPTING', 'TERMINATED'].includes(statusAt(next, nowMs) ?? '');
  if (isUp) return 'NONE';
  return next === first ? 'CREATING' : 'RECREATING';
}

/** As listManagedInstances shows it. */
export function shownManaged(
  { project, template }: FakeGroup,
  managed: FakeManaged,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const { name, zone, metadata, error, endsAtMs } = managed;
  const instance = managed.incarnations.findLast((one) => !isGone(one, nowMs));
  const errors = error && nowMs >= error.atMs ? [{ code: error.code, message: error.message }] : [];
  return {
    name,
    instance: urlOf(project, `zones/${zone}/instances/${name}`),
    ...(instance && { id: instance.id, instanceStatus: shownStatus(statusAt(instance, nowMs) ?? 'PROVISIONING') }),
    currentAction: actionOf(managed, nowMs),
    version: { instanceTemplate: urlOf(project, `global/instanceTemplates/${template}`) },
    ...(endsAtMs !== undefined && { scheduling: { terminationTimestamp: new Date(endsAtMs).toISOString() } }),
    ...(errors.length > 0 && { lastAttempt: { errors: { errors } } }),
    ...(Object.keys(metadata).length > 0 && { preservedStateFromConfig: { metadata } }),
  };
}

export function targetSizeOf({ managed, requests }: FakeGroup, nowMs: number): number {
  const wanted = managed.filter((one) => isThere(one, nowMs) && one.goneAtMs === undefined).length;
  return requests.filter((one) => !isOver(one, nowMs)).reduce((sum, { names }) => sum + names.length, wanted);
}

export function shownGroup(group: FakeGroup, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, project, place, name, template, autoscaler, isPaginated, isRedistributed } = group;
  const { description, allInstancesConfig, baseInstanceName = name } = group;
  const [places = ''] = place.split('/');
  return {
    kind: 'compute#instanceGroupManager',
    id,
    name,
    [places.slice(0, -1)]: urlOf(project, place),
    selfLink: urlOf(project, `${place}/instanceGroupManagers/${name}`),
    instanceTemplate: urlOf(project, `global/instanceTemplates/${template}`),
    versions: [{ instanceTemplate: urlOf(project, `global/instanceTemplates/${template}`) }],
    ...(description !== undefined && { description }),
    ...(allInstancesConfig && { allInstancesConfig }),
    baseInstanceName,
    targetSize: targetSizeOf(group, nowMs),
    ...(places === 'regions' && {
      distributionPolicy: { zones: zonesOf(group).map((zone) => ({ zone: urlOf(project, `zones/${zone}`) })) },
    }),
    updatePolicy: {
      type: 'OPPORTUNISTIC',
      ...(places === 'regions' && { instanceRedistributionType: isRedistributed ? 'PROACTIVE' : 'NONE' }),
    },
    listManagedInstancesResults: isPaginated ? 'PAGINATED' : 'PAGELESS',
    status: {
      isStable: group.managed.every((one) => !isThere(one, nowMs) || actionOf(one, nowMs) === 'NONE'),
      ...(autoscaler && { autoscaler: urlOf(project, `${place}/autoscalers/${autoscaler}`) }),
    },
  };
}
