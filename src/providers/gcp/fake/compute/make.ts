import { refusal } from '#fakes/refusal.ts';
import { change, type FakeInstance, isGone, isLiving, statusAt } from './instance.ts';
import type { FakeError } from './operations.ts';
import type { ComputeBehaviour, ComputeState } from './state.ts';
import { takeRoom } from './stock.ts';

type Wanted = Pick<
  FakeInstance,
  'project' | 'zone' | 'name' | 'machineType' | 'labels' | 'metadata' | 'isSpot' | 'runTime' | 'isPublic' | 'image'
>;

type Steps = FakeInstance['timeline'];

/** It runs from then on, for as long as it may. */
function running({ runTime }: Pick<Wanted, 'runTime'>, atMs: number, { endMs }: ComputeBehaviour): Steps {
  const first = { atMs, state: 'RUNNING' } as const;
  if (!runTime) return [first];
  const overMs = atMs + runTime.ms;
  const last = { atMs: overMs + endMs, state: runTime.action === 'DELETE' ? 'GONE' : 'TERMINATED' } as const;
  return [first, { atMs: overMs, state: 'STOPPING' }, last];
}

/** Makes an instance now, or at a time to come. */
export function makeInstance(state: ComputeState, wanted: Wanted, madeAtMs = state.clock.now()): FakeInstance {
  const { bootMs } = state.behaviour;
  const instance: FakeInstance = {
    ...wanted,
    id: state.nextId(),
    madeAtMs,
    preemptedAtMs: undefined,
    timeline: [
      { atMs: madeAtMs, state: 'PROVISIONING' },
      { atMs: madeAtMs + bootMs / 2, state: 'STAGING' },
      ...running(wanted, madeAtMs + bootMs, state.behaviour),
    ],
  };
  state.instances.push(instance);
  state.changed(instance);
  return instance;
}

/** Somebody deletes it. */
export function endInstance(state: ComputeState, instance: FakeInstance): undefined {
  const atMs = state.clock.now();
  if (isGone(instance, atMs)) return;
  change(instance, [
    { atMs, state: 'STOPPING' },
    { atMs: atMs + state.behaviour.endMs, state: 'GONE' },
  ]);
  state.changed(instance);
}

/** Somebody stops it: it keeps its disk. */
export function stopInstance(state: ComputeState, instance: FakeInstance): undefined {
  const atMs = state.clock.now();
  if (!isLiving(instance, atMs)) return;
  change(instance, [
    { atMs, state: 'STOPPING' },
    { atMs: atMs + state.behaviour.endMs, state: 'TERMINATED' },
  ]);
  state.changed(instance);
}

/** Somebody starts it again; answers why there is no room for it. */
export function startInstance(state: ComputeState, instance: FakeInstance): FakeError | undefined {
  const atMs = state.clock.now();
  const status = statusAt(instance, atMs);
  if (status === 'STOPPING') throw refusal('resourceNotReady', `The resource '${instance.name}' is not ready`, 400);
  if (status !== 'TERMINATED') return undefined;
  const error = takeRoom(state, instance);
  if (error) return error;
  change(instance, [
    { atMs, state: 'PROVISIONING' },
    ...running(instance, atMs + state.behaviour.bootMs, state.behaviour),
  ]);
  state.changed(instance);
  return undefined;
}
