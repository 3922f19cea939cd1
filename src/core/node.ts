// What is merged into below must be part of every program that reads this file.
import type { Fault } from './fault.ts';
import type {} from './feature.ts';
import type { Actor } from './journal.ts';
import type { NodeTemplate } from './node-group.ts';
import { table } from './table.ts';

/** Machines that were asked for, and have not all become nodes. */
export interface AskedNodes {
  readonly id: string;
  readonly count: number;
  readonly to: number;
  readonly names?: readonly string[] | undefined;
  readonly runForMs?: number | undefined;
  readonly at: number;
  /** Since when the scheduler has refused the first pod that it is for. */
  readonly neededSince?: number | undefined;
  /** The cloud has agreed; until then the same growth is repeated. */
  readonly isAnswered: boolean;
}

/** A group that did not grow is not asked again until then. */
export interface GroupBackoff {
  readonly until: number;
  readonly lastMs: number;
  readonly failedAt: number;
  readonly why: string;
}

/** What must survive a restart about one instance group of a NodeProvisioner. */
export interface NodeGroupRow {
  /** Of the group, as its account names it. */
  readonly id: string;
  readonly name: string;
  /** Name of the NodeProvisioner. */
  readonly provisioner: string;
  /** The oldest one first; at most one is unanswered. */
  readonly asked: readonly AskedNodes[];
  readonly backoff?: GroupBackoff | undefined;
  /** What a new node of it was when it was dropped. */
  readonly template?: NodeTemplate | undefined;
  /** Muster made it. */
  readonly made?: MadeGroup | undefined;
}

/** A group that was made for an object. */
export interface MadeGroup {
  /** Name of the account that it is in. */
  readonly account: string;
  readonly template: string;
  readonly dropWhenEmpty: boolean;
  /** It is made again when it must grow. */
  readonly isDropped: boolean;
}

/** A pod that the scheduler refuses though it fits by our reckoning: nothing is asked for it until it changes. */
export interface SetAsidePod {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly since: number;
  /** The node that it fitted on; absent in rows of an earlier version. */
  readonly node?: string | undefined;
  /** What the scheduler said. */
  readonly message: string;
}

/** What must survive a restart about one node pool: the nodes of one NodeProvisioner, as users name the object. */
export interface NodePoolRow {
  /** Its name. */
  readonly id: string;
  readonly setAside: readonly SetAsidePod[];
  /** When pods were evicted, and emptied nodes were deleted, to save nodes; within the last hour. */
  readonly evictedAt: readonly number[];
  readonly freedAt: readonly number[];
  /** By uid: nodes that are not ready and that hold nothing back any more, because an operator said so. */
  readonly letGo?: readonly string[] | undefined;
}

export const nodeTables = {
  nodeGroups: table<NodeGroupRow>()({ writer: 'nodes', indexes: { provisioner: (row) => row.provisioner } }),
  nodePools: table<NodePoolRow>()({ writer: 'nodes', subject: 'node-provisioner', indexes: {} }),
} as const;

/** Where a node is between coming and going. */
export const NODE_PHASES = ['ready', 'coming', 'tainted', 'emptying', 'expiring', 'unready'] as const;
export type NodePhase = (typeof NODE_PHASES)[number];

/** One node of a provisioner, for people. */
export interface ShownNode {
  readonly name: string;
  readonly phase: NodePhase;
  readonly group?: string | undefined;
  readonly gpus: number;
  readonly gpusRequested: number;
  readonly pods: number;
  readonly deletionAt?: number | undefined;
  readonly endsAt?: number | undefined;
  /** What keeps it, or when it goes. */
  readonly why: string;
}

export interface ShownGroup {
  readonly name: string;
  readonly size: number;
  readonly backoffUntil?: number | undefined;
  readonly lastError?: string | undefined;
}

/** A NodeProvisioner as it stands. */
export interface ShownNodePool {
  readonly name: string;
  readonly isReady: boolean;
  /** Whether the nodes that are needed can be had. */
  readonly hasCapacity: boolean;
  readonly reason: string;
  readonly message: string;
  readonly nodes: number;
  readonly target: number;
  readonly ready: number;
  readonly starting: number;
  readonly idle: number;
  readonly gpus: number;
  readonly gpusRequested: number;
  readonly utilizationPercent: number;
  readonly pendingPods: number;
  readonly unfitPods: number;
  /** Nodes that end soon and should have been replaced by now. */
  readonly lateRotations: number;
  readonly groups: readonly ShownGroup[];
  /** Machines of its groups that never became nodes and that Muster did not ask for. */
  readonly unknownMachines: readonly string[];
}

/** What a provisioner would do now. */
export interface NodePlan {
  readonly name: string;
  readonly target: number;
  readonly did: string;
  readonly why: string;
  readonly unless?: string | undefined;
  readonly reason: string;
  readonly alternatives: readonly { readonly what: string; readonly whyNot: string }[];
}

/** A node that can be emptied, and where its pods would go. */
export interface ShownFreedNode {
  readonly name: string;
  readonly group?: string | undefined;
  readonly gpus: number;
  readonly gpusRequested: number;
  readonly pricePerHour?: number | undefined;
  /** What the mode `act` makes of it. */
  readonly when: 'under way' | 'this hour' | 'later';
  readonly moves: readonly { readonly pod: string; readonly to: string; readonly gpus: number }[];
}

/** What moving pods would save. */
export interface ShownDefragmentation {
  readonly name: string;
  readonly mode: 'off' | 'plan' | 'act';
  readonly message: string;
  /** In the order in which they are emptied. */
  readonly nodes: readonly ShownFreedNode[];
  readonly evictions: number;
  /** In dollars; undefined where the price of one of the nodes is not known. */
  readonly savedPerHour?: number | undefined;
  /** Nodes with pods that are not emptied, and why. */
  readonly kept: readonly { readonly node: string; readonly why: string }[];
}

/** Why a pod waits: one obstacle a group. */
export interface PodObstacles {
  readonly pod: string;
  readonly verdict: string;
  readonly groups: readonly { readonly name: string; readonly obstacle: string }[];
}

/** What the feature does for others. */
export interface Nodes {
  /** Why no NodeProvisioner can be read: the cluster refuses, or has no such definition. */
  fault(): Fault | undefined;
  list(): readonly ShownNodePool[];
  show(name: string): { readonly provisioner: ShownNodePool; readonly nodes: readonly ShownNode[] } | undefined;
  plan(name: string): NodePlan | undefined;
  /** Which nodes moving pods would save now; it moves nothing. */
  defragmentation(name: string): Promise<ShownDefragmentation | undefined>;
  whyPod(name: string, pod: string): PodObstacles | undefined;
  /** Lets nodes be taken away although many are not ready; refused as a conflict where nothing is held back. */
  thaw(name: string, by: Actor): Promise<void>;
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly nodes?: Nodes;
  }
}
