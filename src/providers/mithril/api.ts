/** A spot bid, as far as it matters here. It has no labels: all that tells whose it is stands in its name. */
export interface Bid {
  readonly fid: string;
  readonly name: string;
  readonly status: 'Open' | 'Allocated' | 'Preempting' | 'Paused' | 'Terminated';
  readonly created_at: string;
}

export interface Instance {
  readonly fid: string;
  /** The fid of its bid. */
  readonly bid?: string | null;
  readonly status: string;
  readonly created_at?: string;
  readonly private_ip?: string | null;
  readonly ssh_destination?: string | null;
}

/** One name may stand for several: one in each region. */
export interface InstanceType {
  readonly fid: string;
  readonly name: string;
  readonly num_gpus?: number;
  readonly gpu_type?: string | null;
}

export interface Availability {
  /** The fid of the type. */
  readonly instance_type: string;
  readonly region: string;
}

export interface Price {
  readonly spot_price_cents?: number | null;
}

export interface Page<T> {
  readonly data?: readonly T[];
  readonly next_cursor?: string | null;
}
