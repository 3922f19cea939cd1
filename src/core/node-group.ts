import type { Outcome, Trouble } from './provider.ts';

/** A taint of a Kubernetes node. */
export interface NodeTaint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** What a new node of a group will be: enough to tell whether a pod fits on it before there is one. */
export interface NodeTemplate {
  /** By the names that pods use, in whole numbers: `cpu` in thousandths, `memory` and `ephemeral-storage` in bytes. */
  readonly allocatable: Readonly<Record<string, number>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  readonly pricePerHour?: number | undefined;
}

/** One machine of a group. */
export interface NodeInstance {
  /** What `remove` takes; a later machine never has the id of an earlier one. */
  readonly id: string;
  readonly name: string;
  /** `spec.providerID` of its Node. */
  readonly providerId: string;
  readonly state: 'creating' | 'running' | 'deleting' | 'failed';
  /** Why it does not come, or what broke: a stock-out while the cloud goes on trying is not final. */
  readonly trouble?: Trouble | undefined;
  readonly createdAt: number;
  /** When the cloud takes it away, where that is known. */
  readonly endsAt?: number | undefined;
}

/** Machines that were asked for and are not instances yet: a queue of the cloud, or a count that it has not reached. */
export interface NodeRequest {
  /** What `cancel` takes. */
  readonly id: string;
  /** How many machines it still stands for. */
  readonly count: number;
  /** Of the machines, where they were named in `grow`. */
  readonly names?: readonly string[] | undefined;
  /** `failed`: nothing comes of it, but the size of the group counts it until it is cancelled. */
  readonly state: 'waiting' | 'failed';
  readonly trouble?: Trouble | undefined;
  readonly createdAt: number;
}

/** Words for why a group must not be sized; a NodeProvisioner shows them as reasons of its condition. */
export const GROUP_REFUSALS = [
  'GroupNotFound',
  'GroupAmbiguous',
  'GroupHasAutoscaler',
  'GroupRedistributes',
  'GroupUnreadable',
] as const;

/** Why a group must not be sized, and what to do about it. */
export interface GroupRefusal {
  readonly reason: (typeof GROUP_REFUSALS)[number];
  /** One sentence; names the candidates where the name fits several groups, or the known ones where it fits none. */
  readonly message: string;
  readonly remedy: string;
}

/** A group at one moment. */
export interface NodeGroupState {
  /** The size that its cloud aims at: all instances that are not being deleted, and the counts of all requests. */
  readonly wanted: number;
  readonly template: NodeTemplate;
  /** Every one, of every page. */
  readonly instances: readonly NodeInstance[];
  readonly requests: readonly NodeRequest[];
  /** Its cloud names new machines as it is told: `<baseName>-<suffix>`. Absent: it knows only counts. */
  readonly baseName?: string | undefined;
  /** The most machines that its cloud lets it have. */
  readonly most?: number | undefined;
  /** Another sizes it, or moves its machines: `grow` and `remove` refuse too. */
  readonly refusal?: GroupRefusal | undefined;
}

/** A committed request for more machines: same id, same values, always. */
export interface NodeGrowth {
  readonly id: string;
  readonly count: number;
  /** The size of the group once all of them are there. A cloud that knows only counts is sent this, never its own count plus `count`. */
  readonly to: number;
  /** As many as `count`; present where the state has a `baseName`. */
  readonly names?: readonly string[] | undefined;
  /** Waits in the cloud's queue for machines that end by themselves after this time. */
  readonly runForMs?: number | undefined;
}

/**
 * An instance group behind Kubernetes nodes. Nobody else sizes it; of calls that change it at most one is under way, and
 * an unanswered one is repeated until it is answered, before another is made.
 */
export interface NodeGroup {
  /** The same for the same group, whoever finds it; equals `cloud` of a backend that makes machines in it. */
  readonly id: string;
  readonly name: string;
  /** In what runs machines for a set time and queues for them; absent: `runForMs` is refused as unsupported. */
  readonly queue?: { readonly leastMs: number; readonly mostMs: number; readonly mostRequests: number } | undefined;
  describe(signal: AbortSignal): Promise<NodeGroupState>;
  /**
   * Asks for the machines and does not wait for them: what becomes of them is in the state. Repeating it, by any server,
   * makes none twice. It never makes the group smaller. A fault that is not unclear says that nothing was asked for.
   */
  grow(growth: NodeGrowth, signal: AbortSignal): Promise<void>;
  /**
   * Takes requests back, and lowers the size by what they stand for. An absent one is a success. One that was granted
   * meanwhile is refused as a conflict, and its machines stay.
   */
  cancel(ids: readonly string[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /**
   * Deletes these machines, and lowers the size by them: no others, and the cloud makes none in their place. By id, also
   * those that are still being made. An absent one is a success, and lowers nothing; one of another group is refused as
   * invalid. Outcomes name ids.
   */
  remove(ids: readonly string[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** The NodeProvisioner that it was made for by `create`; absent: it was not made by us. */
  readonly madeFor?: string | undefined;
}

/** A group that is to be made. */
export interface NewNodeGroup {
  /** Derived from its provisioner and template, so that a repeat finds what it made. */
  readonly name: string;
  /** One of those that the configuration of the kind names. */
  readonly template: string;
  /** The NodeProvisioner, whose label its nodes bear. */
  readonly provisioner: string;
}

/** All groups of one account. */
export interface NodeGroups {
  /** What shares a listing; names the account, never the credential. */
  readonly cloud: string;
  /** What shares a rate budget and a credential; absent: its cloud. */
  readonly account?: string | undefined;
  /**
   * Each name as a group, or why not. A bare name that fits several groups means the one that has an instance of these
   * provider ids, which are those of the nodes at hand; the others are no concern of ours.
   */
  find(
    wanted: { readonly names: readonly string[]; readonly providerIds: readonly string[] },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, NodeGroup | GroupRefusal>>;
  /** Makes a group of size 0, or finds the one it made; a group of that name that it did not make is a conflict. */
  create?(group: NewNodeGroup, signal: AbortSignal): Promise<NodeGroup>;
  /** Drops an empty group that `create` made. An absent one is a success; one with machines, or of others, is a conflict. */
  drop?(name: string, signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

export const isGroupRefusal = (found: NodeGroup | GroupRefusal): found is GroupRefusal => 'reason' in found;
