import { change, type FakeInstance, isGone } from './instance.ts';
import type { ComputeState } from './state.ts';

type Wanted = Pick<FakeInstance, 'project' | 'zone' | 'name' | 'machineType' | 'labels' | 'metadata' | 'isSpot'>;

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
      { atMs: madeAtMs + bootMs, state: 'RUNNING' },
    ],
  };
  state.instances.push(instance);
  state.changed(instance);
  return instance;
}

/** Somebody deletes it. */
export function endInstance(state: ComputeState, instance: FakeInstance): void {
  const atMs = state.clock.now();
  if (isGone(instance, atMs)) return;
  change(instance, [
    { atMs, state: 'STOPPING' },
    { atMs: atMs + state.behaviour.endMs, state: 'GONE' },
  ]);
  state.changed(instance);
}
