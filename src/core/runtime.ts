// What is merged into below must be part of every program that reads this file.
import type {} from './feature.ts';
import type { Actor } from './journal.ts';
import type { RenderedRuntime, RuntimeGrant, RuntimeRequest } from './runtime-host.ts';
import { table } from './table.ts';

/**
 * `pending`: accepted · `provisioning`: applied for the first time · `ready`: it answered · `updating`: applied again,
 * not ready yet · `releasing`: its objects are being removed · `error`: see its reason; retried by itself.
 */
export const RUNTIME_PHASES = [
  'pending',
  'provisioning',
  'ready',
  'updating',
  'hibernated',
  'releasing',
  'error',
] as const;
export type RuntimePhase = (typeof RUNTIME_PHASES)[number];

/** A runtime for one deployment. */
export interface Runtime {
  readonly id: string;
  /** Its name in the set of provisioners; never changes. */
  readonly provisioner: string;
  readonly slots: number;
  /** Pinned; absent: the newest that the server knows. */
  readonly version?: string | undefined;
  readonly environment: RuntimeRequest['environment'];
  readonly annotations: Readonly<Record<string, string>>;
  readonly diskGb?: number | undefined;
  readonly createdAt: number;
  readonly wanted: 'running' | 'hibernated' | 'gone';
  readonly phase: RuntimePhase;
  /** Since when it is in this phase. */
  readonly since: number;
  /** Why it is in this phase, where that is not plain: what it waits for, what failed. */
  readonly why?: string | undefined;
  readonly grant?: RuntimeGrant | undefined;
  /** Of a static provisioner: the host whose slots it takes. */
  readonly host?: string | undefined;
  /** Where its objects are, as the host of runtimes names the place. */
  readonly cloud?: string | undefined;
  /** What was applied last; `asked` stands for what callers had asked of it then. */
  readonly applied?:
    | { readonly digest: string; readonly version: string; readonly at: number; readonly asked?: string | undefined }
    | undefined;
  /** The version that it was last set to run, applied or not: what a rollout counts. */
  readonly aim?: string | undefined;
  /** The templates that it was last set to be made from, applied or not: what a rollout counts. */
  readonly aimTemplates?: string | undefined;
}

/** A host of static runtimes that takes no new ones. */
export interface DrainedHost {
  readonly id: string;
  readonly at: number;
  readonly who: string;
}

export const runtimeTables = {
  runtimes: table<Runtime>()({
    writer: 'runtimes',
    subject: 'runtime',
    indexes: { provisioner: (r) => r.provisioner, host: (r) => r.host, phase: (r) => r.phase },
  }),
  drainedHosts: table<DrainedHost>()({ writer: 'runtimes', indexes: {} }),
} as const;

/** A runtime that is asked for. */
export interface NewRuntime {
  readonly id: string;
  readonly slots: number;
  /** Absent: the default of the set. */
  readonly provisioner?: string | undefined;
  readonly version?: string | undefined;
  readonly environment?: RuntimeRequest['environment'] | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly diskGb?: number | undefined;
}

/** What is to become different; what is left out stays. */
export interface RuntimeEdit {
  readonly slots?: number | undefined;
  /** null: no longer pinned. */
  readonly version?: string | null | undefined;
  readonly environment?: RuntimeRequest['environment'] | undefined;
  /** By name; null: the runtime no longer has it. Others stay. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
  /** Never less than it has. */
  readonly diskGb?: number | undefined;
  /** A static runtime that does not fit on its host may move to another, without its data. */
  readonly mayMove?: boolean | undefined;
}

/** A host of a static provisioner, or one that has left the set while runtimes live there. */
export interface HostStatus {
  readonly host: string;
  readonly provisioners: readonly string[];
  /** 0 where it is no longer in the set. */
  readonly slots: number;
  readonly used: number;
  readonly isDrained: boolean;
  readonly runtimes: readonly string[];
}

/** A runtime that changes its host; `to` is absent where no host has room. */
export interface HostMove {
  readonly runtime: string;
  readonly slots: number;
  readonly to?: string | undefined;
}

/** What the feature does for others. */
export interface Runtimes {
  /** Idempotent by id: the same request again answers the same runtime; another one with its id is a conflict. */
  create(request: NewRuntime, actor: Actor): Promise<{ readonly runtime: Runtime; readonly isNew: boolean }>;
  edit(id: string, edit: RuntimeEdit, actor: Actor): Promise<Runtime>;
  hibernate(id: string, actor: Actor): Promise<Runtime>;
  wake(id: string, actor: Actor): Promise<Runtime>;
  remove(id: string, actor: Actor): Promise<Runtime | undefined>;
  /** Looks at it now, repairs what differs, and answers how it stands. */
  check(id: string): Promise<Runtime>;
  /** What would be applied; nothing is. */
  render(request: Omit<NewRuntime, 'id'> & { readonly id?: string | undefined }): Promise<RenderedRuntime>;
  hosts(): readonly HostStatus[];
  /** No new runtimes there; answers where its runtimes would go. With `moves` they go at once, without their data. */
  drainHost(host: string, options: { readonly moves: boolean }, actor: Actor): Promise<readonly HostMove[]>;
  releaseHost(host: string, actor: Actor): Promise<void>;
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly runtimes?: Runtimes;
  }
}
