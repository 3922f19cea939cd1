/** What a deployment wants of its runtime: same id, same runtime, always. */
export interface RuntimeRequest {
  /** A DNS label; names every object of it. */
  readonly id: string;
  readonly slots: number;
  /** Resolved: the version that should run, never `latest` where the server knows better. */
  readonly version: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly environment: 'prod' | 'dev';
  /** Replaces the storage that the slots give. */
  readonly diskGb?: number | undefined;
}

/** What a deployment gets: where its runtime answers, and how much it may use. */
export interface RuntimeGrant {
  readonly host: string;
  /** Audience of the tokens that the runtime accepts. */
  readonly audience: string;
  readonly dataDir?: string | undefined;
  readonly cpu: number;
  readonly memoryGb: number;
  readonly storageBytes: number;
}

/**
 * `absent`: nothing of it exists · `coming`: applied, not ready yet · `drifted`: objects are missing or were changed ·
 * `hibernated`: its data exists, nothing runs · `failed`: it cannot become ready by waiting.
 */
export type RuntimeState = 'absent' | 'coming' | 'ready' | 'drifted' | 'hibernated' | 'failed';

export interface RuntimeObservation {
  readonly state: RuntimeState;
  /** One sentence: what it waits for, what differs, what failed. */
  readonly why?: string | undefined;
  /** It is ready, but part of what was asked for was refused: one sentence. Applying again tries that again. */
  readonly trouble?: string | undefined;
  /** Of what was applied last; absent where nothing says so. */
  readonly digest?: string | undefined;
}

/** One object as it would be applied. */
export interface RenderedManifest {
  /** Which template made it: `statefulset`. */
  readonly template: string;
  readonly kind: string;
  readonly name: string;
  /** YAML. */
  readonly text: string;
}

export interface RenderedRuntime {
  /** Hash of all that is rendered: equal for equal objects. */
  readonly digest: string;
  /** Hash of what every runtime of this host is rendered from: templates and settings. */
  readonly templates: string;
  readonly grant: RuntimeGrant;
  readonly manifests: readonly RenderedManifest[];
}

/** Makes, watches and removes runtimes of one provisioner. */
export interface RuntimeHost {
  /** What the runtimes are made in; names the place, never the credential. */
  readonly cloud: string;
  readonly account?: string | undefined;
  /** How long a runtime may take to become ready. */
  readonly readyWithinMs: number;
  /** What `apply` would send; sends nothing. A fault names file and line. */
  render(request: RuntimeRequest): Promise<RenderedRuntime>;
  /** Repeating is safe, also with other values: what exists is changed, what is missing is made. Storage only grows. */
  apply(
    request: RuntimeRequest,
    signal: AbortSignal,
  ): Promise<{ readonly digest: string; readonly grant: RuntimeGrant }>;
  /** `former`: objects of this digest are right too. Changed templates wait for their turn, and the former ones are gone. */
  observe(request: RuntimeRequest, signal: AbortSignal, former?: string): Promise<RuntimeObservation>;
  /** Removes everything, data too; done when `observe` says `absent`. */
  release(id: string, signal: AbortSignal): Promise<void>;
  /** Removes all but the data; absent where the host cannot. */
  hibernate?(id: string, signal: AbortSignal): Promise<void>;
  /** The ids of all runtimes of our cluster there. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  close?(): Promise<void>;
}
