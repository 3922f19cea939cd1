// What the slice needs of a cloud: a fake that can be asked without the provider, and ways to make things go wrong.
import type { Clock } from '#core/clock.ts';
import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Context, Mark, Provider } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Answering, RecordedCall } from '#fakes/answering.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import type { CallFailure, FailureRule } from '#fakes/failure-rules.ts';
import type { OpenedSource } from '#pools/pools.ts';

export type Tree = Readonly<Record<string, unknown>>;

/** A machine as the fake itself knows it, without lag or pages. */
export interface SliceMachine extends Pick<Bootable, 'id' | 'state' | 'nextChangeMs' | 'scripts' | 'poweredOff'> {
  /** The name that its agent joins under. */
  readonly name: string;
  /** Undefined for machines of others. */
  readonly mark: Mark | undefined;
  /** Where its connections come from; absent: the same for all. */
  readonly address?: string | undefined;
  /** False once its end has begun. */
  exists(nowMs: number): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: each fake has its own calls, and failure rules take them in.
type AnyCall = any;

/** An error of the cloud on the second page of a listing. */
export type BrokenPage = FailureRule<AnyCall> & { readonly what: { readonly kind: 'error'; readonly code: string } };

/** Where the operator's file says that documents are: in the right place, in another one, or wrongly. */
export type Place = 'pools' | 'other' | 'mistyped' | 'elsewhere';

/** A place that holds documents, seen past the provider. */
export interface SliceDocuments {
  open(place: Place, context: Context): Promise<Pick<OpenedSource, 'kind' | 'place' | 'source'>>;
  /** Returns the key under which the source lists it. */
  write(place: Place, name: string, text: string): string;
  erase(place: Place, name: string): void;
  /** It goes without a word of its writer; absent: as `erase` does it. */
  vanish?(place: Place, name: string): void;
  /** A document with one mistake; absent: a number in YAML that is none. */
  readonly bad?: { readonly text: string; readonly version: RegExp; readonly place: string };
  /** Why an erased document's pool is removed; absent: the source no longer defines it. */
  erasedBecause?(place: Place, name: string): string;
  /** Fails the second page of a listing; absent where it has no pages. */
  readonly laterPage?: BrokenPage;
}

/** A fake cloud of its own for each world. */
export interface SliceCloud {
  readonly fake: Pick<Answering<AnyCall, RecordedCall>, 'fetch' | 'calls' | 'countOf' | 'failureRules'>;
  /** All machines that ever were, of whomever. */
  machines(): readonly SliceMachine[];
  /** Called with each machine whose states to come have changed. */
  watch(changed: (machine: SliceMachine) => void): void;
  /** Starts machines of others: without a mark, with a part of one, of another cluster. Returns their ids. */
  addForeign(cluster: string): Promise<readonly string[]>;
  /** The next machines are promised and never come. */
  refuseLate(count: number): void;
  /** What a process that has just started reaches it by, where it is a Kubernetes cluster. */
  openCluster?(): ClusterAccess;
  /** Absent where the cloud holds no documents: the suite then keeps them in memory. */
  readonly documents?: SliceDocuments;
}

export interface SliceCloudOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The most items on a page of a listing. */
  readonly pageSize: number;
  /** Whether the limits hold that the cloud publishes. */
  readonly isLimited: boolean;
  /** How late a listing shows what was made. */
  readonly lagMs: number;
  /** From creation until the agent starts. */
  readonly bootMs: number;
}

/** How the suite gets at a cloud. */
export interface SliceHarness {
  readonly provider: Provider;
  /** A configuration that the fake launches from, under the key of its kind. */
  readonly backend: { readonly kind: string; readonly config: Tree };
  openCloud(options: SliceCloudOptions): SliceCloud;
  /** The environment of the server, as far as the provider may read it. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Loads in real time what a provider imports at its first call: on the virtual clock hours would pass. */
  load?(): Promise<void>;
  /** The actions that take a machine away: deletes, stops. */
  readonly removals: readonly string[];
  /** The action that makes machines. */
  readonly creation: string;
  /** The actions that make what belongs to one, and name it. */
  readonly additions?: readonly string[];
  /** The actions by which a listing asks for the machines that it has found. */
  readonly readings?: readonly string[];
  /** The most calls that a thousand machines may cost. */
  readonly mostCalls: { readonly creation: number; readonly removal: number };
  /** How long a thousand machines take at the cloud's own limit; absent: half a minute. */
  readonly grownWithinMs?: number;
  /** How long after its launch a machine counts as refused; absent: soon. */
  readonly refusedAfterMs?: number;
  /** Fails the second page of a listing of machines. */
  readonly laterPage: BrokenPage;
  /** How the cloud denies a call. */
  readonly denied: CallFailure;
  /** What a fault of this cloud names: its region, its address. */
  readonly named: string | RegExp;
  /** Called with each document that the server refuses, and why. */
  readonly refused?: (why: string) => void;
  /** Configurations of the backend that only the operator may write, each with the key that is refused. */
  readonly forbidden?: readonly (readonly [what: string, config: Tree, key: string])[];
}

/** A document of a pool on that cloud, with limits that make a short story. */
export function documentOf(
  { backend }: Pick<SliceHarness, 'backend'>,
  name: string,
  more: { readonly scaler?: Tree; readonly backend?: Tree } = {},
): string {
  const auto_scaler = {
    backend: { [backend.kind]: { ...backend.config, ...more.backend } },
    max_agents: 3,
    min_idle_agents: 1,
    max_idle_agents: 1,
    scale_up_error_retry_delay: '5s',
    sync_loop_interval: '60s',
    ...more.scaler,
  };
  return JSON.stringify({ name, auto_scaler });
}
