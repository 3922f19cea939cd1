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
  /** `amd64` */
  readonly Arch?: string;
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

/** One line of a push: what a layer is doing, or what went wrong. */
export interface PushLine extends PullLine {
  /** Of the layer. */
  readonly id?: string;
  /** A bar, while bytes are under way. */
  readonly progress?: string;
}

/** One line of a build: output, which may be any part of a line, or as a pull of the base. */
export interface BuildLine extends PushLine {
  readonly stream?: string;
  readonly errorDetail?: { readonly message?: string /** Of the step that failed. */; readonly code?: number };
}

/** An image as the listing shows it. */
export interface ImageSummary {
  readonly Id: string;
  /** Absent, or `<none>:<none>`, where it has no name. */
  readonly RepoTags?: readonly string[] | null;
  /** Seconds since 1970. */
  readonly Created: number;
  readonly Labels?: Readonly<Record<string, string>> | null;
}

/** An image as it is inspected. */
export interface ImageDetails {
  readonly Id: string;
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null } | null;
}
