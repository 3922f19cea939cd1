import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import type { Registry } from './api/registry.ts';
import type { ObjectStore } from './objects/store.ts';
import type { Watches } from './objects/watches.ts';

/** How this cluster behaves; tests change it as they go. */
export interface Behaviour {
  /** Number of changes that a watch can still be opened before; twice as many at times. */
  historyLimit: number;
  /** How long a continue token is good. */
  tokenLifeMs: number;
  /** The most objects on a page, whatever was asked. */
  largestPage: number;
  /** When a watch without `timeoutSeconds` ends. */
  watchMs: number;
  /** Time between bookmarks; a last one comes shortly before a watch ends. */
  bookmarkEveryMs: number;
  /** Whether watches may ask for the initial objects (`sendInitialEvents`); servers before 1.27 refuse. */
  streamsLists: boolean;
  /** Time until the scheduler has placed a pod. */
  scheduleMs: number;
  /** Time until the containers of a placed pod run. */
  startMs: number;
  /** Time that containers take to end after SIGTERM. */
  stopMs: number;
  /** How often the kubelet tries again to mount a volume or to pull an image. */
  retryMs: number;
  /** Time until the namespace controller and the garbage collector have acted. */
  collectMs: number;
  /** What admission says to each pod that a Deployment makes; absent: it takes them. */
  podRefusal: string | undefined;
  /** Whether owner references that block a deletion need a right, as in OpenShift. */
  enforcesOwnerReferences: boolean;
  /** Time until a Service of type LoadBalancer has its address, and until that is given back. */
  balancerMs: number;
}

export const USUAL_BEHAVIOUR: Readonly<Behaviour> = {
  historyLimit: 10_000,
  tokenLifeMs: 300_000,
  largestPage: Number.POSITIVE_INFINITY,
  watchMs: 2_700_000,
  bookmarkEveryMs: 60_000,
  streamsLists: true,
  scheduleMs: 20,
  startMs: 1_000,
  stopMs: 200,
  retryMs: 10_000,
  collectMs: 50,
  podRefusal: undefined,
  enforcesOwnerReferences: false,
  balancerMs: 5_000,
};

/** The state of the cluster, apart from all its clients. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly behaviour: Behaviour;
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly watches: Watches;
}
