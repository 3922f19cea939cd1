// The instances of the fake Nebius, and what becomes of them.
import { create } from '@bufbuild/protobuf';
import type { Clock } from '#core/clock.ts';
import { follow } from '#fakes/timeline.ts';
import { type CreateInstanceRequest, InstanceSpecSchema, type Status } from '../gen/nebius_pb.ts';
import { checkCreation } from './check-creation.ts';
import { existsAt, type FakeInstance, type InstanceStep, stateAt } from './instance.ts';
import { type FakeOperation, openFakeOperations } from './operations.ts';
import { failure, refused } from './refusals.ts';

export interface ProjectOptions {
  readonly clock: Clock;
  /** From the creation until the instance runs. */
  readonly bootMs: number;
  /** An instance whose creation failed stays in the state ERROR; otherwise it is gone. */
  readonly keepsFailed: boolean;
  readonly hasImage: (id: string) => boolean;
}

const [END_MS, FAIL_MS] = [1_000, 1_500];
const NO_ROOM = 'There are not enough resources for the requested preset';

type Steps = readonly [InstanceStep, ...InstanceStep[]];

export function openProject({ clock, bootMs, keepsFailed, hasImage }: ProjectOptions) {
  const instances: FakeInstance[] = [];
  const byId = new Map<string, FakeInstance>();
  /** Operations by idempotency key. */
  const keys = new Map<string, string>();
  const stock = new Map<string, number>();
  const watchers = new Set<(instance: FakeInstance) => void>();
  const operations = openFakeOperations(clock);
  const settings = { quota: 10_000, late: 0 };
  const changed = (instance: FakeInstance): void => {
    for (const heard of watchers) heard(instance);
  };

  function then(instance: FakeInstance, [first, ...rest]: Steps): void {
    instance.timeline = follow(instance.timeline, [first, ...rest]);
    changed(instance);
  }

  /** Takes one from the stock of a platform; false where there is none. */
  function isInStock({ spec }: Pick<FakeInstance, 'spec'>): boolean {
    const platform = spec.resources?.platform ?? '';
    const left = stock.get(platform);
    if (left === undefined) return true;
    stock.set(platform, Math.max(0, left - 1));
    return left > 0;
  }

  function stepsOf(atMs: number, isStillborn: boolean): readonly InstanceStep[] {
    const begun = { atMs, state: 'CREATING' } as const;
    if (isStillborn) return [begun, { atMs: atMs + FAIL_MS, state: keepsFailed ? 'ERROR' : 'gone' }];
    return [
      begun,
      { atMs: atMs + Math.floor(bootMs / 2), state: 'STARTING' },
      { atMs: atMs + bootMs, state: 'RUNNING' },
    ];
  }

  function make(given: Pick<FakeInstance, 'parent' | 'name' | 'labels' | 'spec'>, isStillborn = false): FakeInstance {
    const madeAtMs = clock.now();
    const id = `computeinstance-e00${String(instances.length).padStart(6, '0')}`;
    const instance: FakeInstance = { ...given, id, madeAtMs, isStillborn, timeline: stepsOf(madeAtMs, isStillborn) };
    instances.push(instance);
    byId.set(id, instance);
    changed(instance);
    return instance;
  }

  const living = (parent: string): FakeInstance[] =>
    instances.filter((one) => one.parent === parent && existsAt(one, clock.now()));

  function find(id: string): FakeInstance | undefined {
    const instance = byId.get(id);
    return instance && existsAt(instance, clock.now()) ? instance : undefined;
  }

  function found(id: string): FakeInstance {
    const instance = find(id);
    if (!instance) throw refused('ResourceNotFound', id);
    return instance;
  }

  function takesLateRefusal(): boolean {
    if (settings.late === 0) return false;
    settings.late -= 1;
    return true;
  }

  function checked(request: CreateInstanceRequest): Pick<FakeInstance, 'parent' | 'name' | 'labels' | 'spec'> {
    checkCreation(request, hasImage);
    const { parentId: parent = '', name = '', labels = {} } = request.metadata ?? {};
    const others = living(parent);
    const same = others.find((one) => one.name === name);
    if (same) throw refused('ResourceAlreadyExists', same.id);
    if (others.length >= settings.quota) throw refused('QuotaFailure', 'The limit of instances is reached');
    return { parent, name, labels, spec: request.spec ?? create(InstanceSpecSchema) };
  }

  /** The same key again is the same operation. */
  function createInstance(request: CreateInstanceRequest, key: string | undefined): FakeOperation {
    const earlier = key === undefined ? undefined : keys.get(key);
    if (earlier !== undefined) return operations.get(earlier);
    const wanted = checked(request);
    const isStillborn = takesLateRefusal() || !isInStock(wanted);
    const { id: resource } = make(wanted, isStillborn);
    const operation = operations.begin({
      resource,
      description: 'Create instance',
      endsMs: clock.now() + (isStillborn ? FAIL_MS : bootMs),
      failure: isStillborn ? failure('NotEnoughResources', NO_ROOM) : undefined,
    });
    if (key !== undefined) keys.set(key, operation.id);
    return operation;
  }

  function begin(instance: FakeInstance, description: string, steps: Steps, failed?: Status): FakeOperation {
    operations.refuseWhileBusy(instance.id);
    then(instance, steps);
    const endsMs = steps.at(-1)?.atMs ?? clock.now();
    return operations.begin({ resource: instance.id, description, endsMs, failure: failed });
  }

  const pair = (first: InstanceStep['state'], second: InstanceStep['state'], afterMs = END_MS): Steps => [
    { atMs: clock.now(), state: first },
    { atMs: clock.now() + afterMs, state: second },
  ];

  function start(instance: FakeInstance): FakeOperation {
    if (stateAt(instance, clock.now()) !== 'STOPPED') throw refused('BadResourceState', 'The instance is not stopped');
    if (isInStock(instance)) return begin(instance, 'Start instance', pair('STARTING', 'RUNNING', bootMs));
    const failed = failure('NotEnoughResources', NO_ROOM);
    return begin(instance, 'Start instance', pair('STARTING', 'STOPPED', FAIL_MS), failed);
  }

  return {
    instances,
    operations,
    stock,
    settings,
    make,
    living,
    find,
    found,
    createInstance,
    start,
    stop: (instance: FakeInstance) => begin(instance, 'Stop instance', pair('STOPPING', 'STOPPED')),
    remove: (instance: FakeInstance) => begin(instance, 'Delete instance', pair('DELETING', 'gone')),
    /** Nebius stops it by itself. */
    preempt: (instance: FakeInstance) => then(instance, pair('STOPPING', 'STOPPED')),
    watch(heard: (instance: FakeInstance) => void): () => void {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}

export type FakeProject = ReturnType<typeof openProject>;
