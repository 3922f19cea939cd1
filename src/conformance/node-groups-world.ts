import type { FaultKind } from '#core/fault.ts';
import type { NodeGroups } from '#core/node-group.ts';
import type { AnyKind } from '#core/provider.ts';

/** One account of its own with groups of GPU nodes, seen from both sides. */
export interface NodeGroupsWorld {
  /** Opens the kind there: again and again, as restarted servers do. */
  open(): Promise<NodeGroups>;
  /** Lets time pass until nothing happens there any more. */
  settle(): Promise<void>;
  /** Awaits a call while time passes in the world; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** A group that was there before us, with so many running machines; `elsewhere`: in another zone of the account. */
  addGroup(name: string, size: number, options?: { readonly elsewhere?: boolean }): Promise<void>;
  /** The names of the machines that exist there, those that are being deleted apart, by group; of both where two share a name. */
  existing(group: string): readonly string[];
  /** The size that the cloud itself holds for the group. */
  sizeOf(group: string): number;
  /** From now on only so many more machines come. */
  stock(left: number): void;
  /** From now on requests of a queue wait until `grant` lets them through. */
  holdQueue(): void;
  grant(): void;
  /** The next call that changes something is carried out, and its answer is lost. */
  loseNextReply(): void;
  /** Another sizes this group from now on; absent where this cloud has nothing of the kind. */
  autoscale?(group: string): void;
  /** From now on every call fails in this way. */
  fail(kind: FaultKind): void;
  /** From now on no call is answered. */
  hang(): void;
  close(): Promise<void>;
}

export type NodeGroupsLawId =
  | 'finds'
  | 'names both'
  | 'describes'
  | 'lists all'
  | 'grows'
  | 'grows once'
  | 'lost reply'
  | 'never shrinks'
  | 'stock-out'
  | 'queues'
  | 'cancels'
  | 'removes'
  | 'removes once'
  | 'only its own'
  | 'others size it'
  | 'creates'
  | 'drops'
  | 'typed faults'
  | 'aborted';

/** How the suite gets at a kind. */
export interface NodeGroupsHarness {
  readonly kind: AnyKind<NodeGroups>;
  /** A new account for each law. */
  openWorld(): Promise<NodeGroupsWorld>;
  /** The resource that its machines have GPUs as: `nvidia.com/gpu`. */
  readonly gpu: string;
  /** More machines than one page of a listing holds, as far as the fake has pages. */
  readonly many?: number | undefined;
  /** A template that `create` may use. */
  readonly template?: string | undefined;
  /** The failures that this cloud knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<NodeGroupsLawId, string>>>;
}

/** All that the laws need; the kind itself is checked apart. */
export type NodeGroupsSubject = Omit<NodeGroupsHarness, 'kind'>;
