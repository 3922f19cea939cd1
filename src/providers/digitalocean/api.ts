/** A droplet, as far as it matters here. */
export interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly status: 'new' | 'active' | 'off' | 'archive';
  /** While DigitalOcean makes or destroys it. */
  readonly locked?: boolean;
  readonly created_at: string;
  readonly tags: readonly string[];
  readonly networks?: {
    readonly v4?: readonly { readonly ip_address: string }[];
    readonly v6?: readonly { readonly ip_address: string }[];
  };
}

/** What DigitalOcean does with a droplet after it has agreed. */
export interface Action {
  readonly id: number;
  readonly status: 'in-progress' | 'completed' | 'errored';
}

export interface Size {
  readonly slug: string;
  readonly price_hourly: number;
}

/** The answer to a creation with `names`. */
export interface Created {
  readonly droplets?: readonly Droplet[];
  readonly links?: { readonly actions?: readonly { readonly id: number; readonly rel: string }[] };
}

/** What every page of a listing has beside its items. */
export interface Page {
  readonly links?: { readonly pages?: { readonly next?: string } };
  readonly meta?: { readonly total?: number };
}
