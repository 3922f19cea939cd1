import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import type { Instance } from './ec2/instance.ts';
import type { Task } from './ecs/task.ts';
import type { Region } from './region.ts';
import type { Params } from './wire/params.ts';

/** How this AWS behaves; tests change it as they go. */
export interface Behaviour {
  /** How far every EC2 listing lags behind the truth; by instance where it is a function. */
  listLagMs: number | ((instanceId: string) => number);
  /** Whether DescribeInstances shows nothing that is not asked for by its id. */
  hidesAll: boolean;
  /** The most things on a page, whatever was asked. */
  largestPage: number;
  /** How many empty pages, each with a token, stand before every page that has something. */
  emptyPages: number;
  /** How long a token for the next page is good. */
  tokenLifeMs: number;
  bootMs: number;
  stopMs: number;
  terminateMs: number;
  /** When a promised machine that AWS does not have turns to terminated. */
  lateCapacityMs: number;
  /** How long an instance that has ended is still listed. */
  keepTerminatedMs: number;
  /** The warning before a spot instance is taken back. */
  spotNoticeMs: number;
}

export const USUAL_BEHAVIOUR: Readonly<Behaviour> = {
  listLagMs: 0,
  hidesAll: false,
  largestPage: 1_000,
  emptyPages: 0,
  tokenLifeMs: 3_600_000,
  bootMs: 8_000,
  stopMs: 10_000,
  terminateMs: 15_000,
  lateCapacityMs: 3_000,
  keepTerminatedMs: 3_600_000,
  spotNoticeMs: 120_000,
};

/** The account and all its regions. */
export interface World {
  readonly account: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly behaviour: Behaviour;
  region(name: string): Region;
  regions(): Iterable<Region>;
  /** Grows with each instance. */
  nextSequence(): number;
  /** Gives a key to somebody. */
  grant(accessKey: string, arn: string): void;
  /** The secrets of the keys that STS gave. */
  readonly secrets: Map<string, string>;
  /** Tells that the states to come of this instance have changed. */
  changed(instance: Instance): void;
  /** The same of a task of ECS. */
  taskChanged(task: Task): void;
}

/** One call, its caller admitted. */
export interface Ask {
  readonly world: World;
  readonly region: Region;
  readonly nowMs: number;
  readonly params: Params;
  readonly body: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
}

/** Who calls. */
export interface Principal {
  readonly arn: string;
  readonly id: string;
  may(right: string): boolean;
}
