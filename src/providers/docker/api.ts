// The parts of the Engine API that we read, as it writes them.

/** A container as the listing shows it. */
export interface ContainerSummary {
  readonly Id: string;
  /** Each with a `/` in front; a container that others link to has several. */
  readonly Names: readonly string[];
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State: string;
  /** `Up 3 minutes`, `Exited (137) 5 seconds ago`. */
  readonly Status?: string;
  /** Seconds since 1970. */
  readonly Created: number;
  readonly Image?: string;
  readonly HostConfig?: { readonly NetworkMode?: string };
  /** Those that are published have a `PublicPort`; none while it does not run, and on the network of its machine. */
  readonly Ports?: readonly {
    readonly IP?: string;
    readonly PrivatePort: number;
    readonly PublicPort?: number;
    readonly Type: string;
  }[];
  readonly NetworkSettings?: {
    readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string; readonly GlobalIPv6Address?: string }>>;
  };
}

/** A container as it is inspected. */
export interface Container {
  readonly Id: string;
  readonly Name: string;
  readonly Config?: {
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly User?: string;
    readonly Image?: string;
  };
  readonly State?: {
    readonly Status?: string;
    readonly ExitCode?: number;
    readonly OOMKilled?: boolean;
    readonly Error?: string;
  };
}

export interface Version {
  readonly Version: string;
  readonly ApiVersion: string;
}

export interface Info {
  readonly OperatingSystem?: string;
}

/** One line of a pull. */
export interface PullLine {
  readonly status?: string;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}
