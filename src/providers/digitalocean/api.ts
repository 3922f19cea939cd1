/** A droplet, as far as it matters here. */
export interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly status: 'new' | 'active' | 'off' | 'archive';
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
  readonly resource_id: number | null;
}

export interface Size {
  readonly slug: string;
  readonly price_hourly: number;
  readonly regions: readonly string[];
}

export interface Region {
  readonly slug: string;
}

/** The answer to a creation with `names`. */
export interface Created {
  readonly droplets?: readonly Droplet[];
  readonly links?: { readonly actions?: readonly { readonly id: number; readonly rel: string }[] };
}
