// The container groups of a subscription. It knows nothing of the provider.
import type { Clock } from '#core/clock.ts';
import { follow, type Step, stepAt } from '#fakes/timeline.ts';
import { type Compute, type FakeOperation, PREEMPTED } from '../compute/compute.ts';
import type { Tags } from '../compute/machine.ts';
import { IMAGES } from './images.ts';

export type GroupState = 'Creating' | 'Running' | 'Failed' | 'Terminated' | 'Stopped' | 'Deleting' | 'gone';

/** What a creation asks for, once it is known to be good. */
export interface WantedGroup {
  readonly location: string;
  readonly tags: Tags;
  /** As it is shown: without secrets. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** What its secret volumes hold, by the path in the container. */
  readonly files: ReadonlyMap<string, string>;
  readonly container: string;
  readonly cores: number;
  readonly isPublic: boolean;
}

/** A container group as Azure keeps it. */
export interface FakeGroup extends WantedGroup {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly madeAtMs: number;
  readonly ip: string;
  /** Why it never runs. */
  readonly failure: FakeOperation['error'];
  /** How often its container was started: a creation that is repeated starts it anew. */
  starts: number;
  exitCode: number | undefined;
  log: string;
  timeline: readonly Step<GroupState>[];
}

export interface Containers {
  /** All groups that ever were. */
  readonly all: readonly FakeGroup[];
  /** What registries have, with the login that they want. */
  readonly images: Map<string, { readonly username: string; readonly password: string } | undefined>;
  /** Locations that have no room now. */
  readonly full: Set<string>;
  readonly settings: {
    /** How many cores the subscription may have in a location. */
    cores: number;
    /** Groups that run have the address 0.0.0.0, as for some seconds after they were placed. */
    isAddressLate: boolean;
  };
  find(group: string, name: string): FakeGroup | undefined;
  /** Of a resource group, as its listing shows them. */
  listed(group: string): readonly FakeGroup[];
  coresIn(location: string): number;
  make(
    group: string,
    name: string,
    wanted: WantedGroup,
  ): { readonly made: FakeGroup; readonly operation: FakeOperation };
  /** The same creation again: its container is started anew, also where it had ended. */
  restart(one: FakeGroup): void;
  /** Its container ends by itself. */
  finish(one: FakeGroup, exitCode: number, log?: string): void;
  stop(one: FakeGroup): void;
  end(one: FakeGroup): FakeOperation;
  watch(changed: (one: FakeGroup) => void): () => void;
}

export const stateOf = ({ timeline }: FakeGroup, nowMs: number): GroupState =>
  stepAt(timeline, nowMs)?.state ?? 'Creating';

const [LATE_MS, END_MS] = [3_000, 2_000];
const MANY_CORES = 1_000_000;
const NO_ROOM = {
  code: 'ServiceUnavailable',
  message: "The requested resource is not available in the location 'westeurope' at this moment.",
};

export interface ContainersOptions extends Pick<Compute, 'begin' | 'settings'> {
  readonly clock: Clock;
  readonly subscriptionId: string;
}

export function openContainers({ clock, subscriptionId, begin, settings: shared }: ContainersOptions): Containers {
  const all: FakeGroup[] = [];
  const byName = new Map<string, FakeGroup>();
  const creations = new WeakMap<FakeGroup, FakeOperation>();
  const watchers = new Set<(one: FakeGroup) => void>();
  const settings = { cores: MANY_CORES, isAddressLate: false };
  const keyOf = (group: string, name: string): string => `${group}/${name}`.toLowerCase();
  const isThere = (one: FakeGroup): boolean => stateOf(one, clock.now()) !== 'gone';

  function change(one: FakeGroup, steps: readonly [Step<GroupState>, ...Step<GroupState>[]]): void {
    const past = one.timeline.filter(({ atMs }) => atMs <= clock.now());
    one.timeline = follow(past, steps);
    for (const heard of watchers) heard(one);
  }

  /** Whether it ever runs is decided when Azure agrees. */
  function failureOfNext(): FakeOperation['error'] {
    if (shared.late === 0) return undefined;
    shared.late -= 1;
    return NO_ROOM;
  }

  return {
    all,
    images: new Map(IMAGES),
    full: new Set(),
    settings,
    find(group, name) {
      const one = byName.get(keyOf(group, name));
      return one && isThere(one) ? one : undefined;
    },
    listed(group) {
      const nowMs = clock.now();
      return all.filter(
        (one) =>
          one.group.toLowerCase() === group.toLowerCase() && isThere(one) && nowMs - one.madeAtMs >= shared.lagMs,
      );
    },
    coresIn: (location) =>
      all.filter((one) => isThere(one) && one.location === location).reduce((sum, { cores }) => sum + cores, 0),
    make(group, name, wanted) {
      const madeAtMs = clock.now();
      const failure = failureOfNext();
      const next: Step<GroupState> = failure
        ? { atMs: madeAtMs + LATE_MS, state: 'Failed' }
        : { atMs: madeAtMs + shared.bootMs, state: 'Running' };
      const at = all.length + 1;
      const made: FakeGroup = {
        ...wanted,
        id: `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.ContainerInstance/containerGroups/${name}`,
        ...{ name, group, madeAtMs, failure, starts: 1, exitCode: undefined, log: '' },
        ip: `${wanted.isPublic ? '20.60' : '10.61'}.${at >> 8}.${at & 255}`,
        timeline: [{ atMs: madeAtMs, state: 'Creating' }, next],
      };
      all.push(made);
      byName.set(keyOf(group, name), made);
      for (const heard of watchers) heard(made);
      const operation = begin(next.atMs - madeAtMs, failure);
      creations.set(made, operation);
      return { made, operation };
    },
    restart(one) {
      one.starts += 1;
      one.exitCode = undefined;
      change(one, [{ atMs: clock.now(), state: 'Running' }]);
    },
    finish(one, exitCode, log = '') {
      Object.assign(one, { exitCode, log });
      change(one, [{ atMs: clock.now(), state: 'Terminated' }]);
    },
    stop: (one) => change(one, [{ atMs: clock.now(), state: 'Stopped' }]),
    end(one) {
      const atMs = clock.now();
      const creation = creations.get(one);
      if (creation && creation.endsAtMs > atMs) Object.assign(creation, { endsAtMs: atMs, error: PREEMPTED });
      change(one, [
        { atMs, state: 'Deleting' },
        { atMs: atMs + END_MS, state: 'gone' },
      ]);
      return begin(END_MS);
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}
