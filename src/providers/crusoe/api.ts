// What version 1 of Crusoe's API answers, as far as it matters here.
import type { NodeTaint } from '#core/node-group.ts';

export interface Operation {
  readonly operation_id: string;
  readonly state: 'IN_PROGRESS' | 'SUCCEEDED' | 'FAILED';
  /** Of a pool: the pool, and `details` where it succeeded in part. */
  readonly result?: unknown;
  readonly metadata?: unknown;
  readonly started_at?: string;
}

export interface AsyncAnswer {
  readonly operation: Operation;
}

/** Why a pool has fewer nodes than it should; in clusters of the second generation alone. */
export interface HealthIssue {
  readonly code?: string;
  readonly message?: string;
  readonly since?: string;
}

export interface NodePool {
  readonly id: string;
  readonly name: string;
  readonly cluster_id: string;
  readonly count: number;
  readonly state: string;
  readonly type: string;
  readonly updated_at?: string;
  readonly instance_ids?: readonly string[];
  readonly node_labels?: Readonly<Record<string, string>> | null;
  readonly node_taints?: readonly NodeTaint[] | null;
  readonly reservation_id?: string;
  readonly ephemeral_storage_for_containerd?: boolean;
  readonly autoscaling_config?: { readonly enabled?: boolean };
  readonly health?: { readonly issues?: readonly HealthIssue[] };
}

export interface Vm {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly created_at: string;
}

export interface VmType {
  readonly product_name: string;
  readonly cpu_cores: number;
  readonly memory_gb: number;
  readonly num_gpu: number;
  readonly gpu_type?: string;
}

export const POOLS = '/kubernetes/nodepools';
export const VMS = '/compute/vms/instances';

// Crusoe shows pools for a while after their end.
const ENDED = new Set(['STATE_DELETING', 'STATE_DELETED']);
export const isOver = ({ state }: NodePool): boolean => ENDED.has(state);
