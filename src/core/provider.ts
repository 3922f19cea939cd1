import type { z } from 'zod';
import type { Rate } from './call-budget.ts';
import type { Clock } from './clock.ts';
import type { ClusterAccess, ServerReach } from './cluster-access.ts';
import type { Fault, FaultKind } from './fault.ts';
import type { ImageBuilder, ImageNeed } from './image-builder.ts';
import type { Log } from './log.ts';
import type { NodeGroups } from './node-group.ts';
import type { Programs } from './programs.ts';
import type { Random } from './random.ts';
import type { RuntimeHost } from './runtime-host.ts';
import type { Shared } from './shared.ts';
import type { DocumentReport } from './source.ts';
import type { Unary } from './unary.ts';

/** What machines are made for. Only the feature that registered a use may delete machines that bear it. */
export const USES = ['worker', 'computer'] as const;
export type Use = (typeof USES)[number];

/** The tags of every machine that we launch; read back from the cloud, never assumed. */
export interface Mark {
  readonly cluster: string;
  readonly use: Use;
  /** Id of the pool or computer that asked for it. */
  readonly owner: string;
  /** Hash of what forms the machine. */
  readonly shape: string;
}

/** A failure that a listing shows: a pod that cannot be scheduled, a machine that broke. */
export interface Trouble {
  readonly kind: FaultKind;
  /** One word for it, as its cloud says. */
  readonly reason?: string | undefined;
  readonly message: string;
  /** The cloud does not retry. */
  readonly final: boolean;
}

/** Where a server on a machine can be reached. */
export interface MachineEndpoint {
  readonly host: string;
  readonly port: number;
  /** Absent: `http`. */
  readonly scheme?: 'http' | 'https' | undefined;
}

/** What the cloud has. */
export interface Machine {
  readonly name: string;
  /** Undefined if this kind cannot tag machines. Such machines are only deleted if `kill_unknown_after` is set. */
  readonly mark: Mark | undefined;
  readonly id?: string | undefined;
  readonly createdAt: number;
  readonly state: 'creating' | 'running' | 'suspending' | 'suspended' | 'deleting' | 'failed';
  readonly trouble?: Trouble | undefined;
  /** When the cloud takes it away, where it has announced that: its worker drains until then. */
  readonly endsAt?: number | undefined;
  /** The addresses that its connections come from, where the cloud knows them: proof for `agent_auth: machine`. */
  readonly addresses?: readonly string[] | undefined;
  /** Where the port of its launch can be reached from outside of it, the best place first; absent: it has none yet, or the cloud does not know. */
  readonly endpoints?: readonly MachineEndpoint[] | undefined;
}

/** The agent with its runtime, for Linux on one kind of machine. */
export interface AgentArchive {
  /** As `uname -m` prints it there: `x86_64`, `aarch64`. */
  readonly machine: string;
  readonly url: string;
  readonly sha256: string;
}

/** What a new machine must know; the backend decides how it gets it. */
export interface Boot {
  /** The agent's configuration file, as YAML. */
  readonly agentConfig: string;
  /** Launch token: each name of this launch may join once with it. */
  readonly token: string;
  /** Where a machine without an agent gets one; `ca` is what to trust there, where the system does not. */
  readonly install?: { readonly archives: readonly AgentArchive[]; readonly ca?: string | undefined } | undefined;
  /** The port that its agent serves `/health` on. A backend publishes it, and shows it in `endpoints` of the machine. */
  readonly port?: number | undefined;
  /** When the machine must be gone, even if no server deletes it. Its agent ends it; a cloud that can do so itself is told at its creation. */
  readonly endsAt?: number | undefined;
}

/** A committed request for one or more named machines: same id, same bytes, always. */
export interface Launch {
  readonly id: string;
  readonly mark: Mark;
  readonly names: readonly string[];
  readonly boot: Boot;
  /** When it was committed: a repeat that carries a time carries this one. */
  readonly askedAt: number;
}

/** The outcome for one name: done, unless it has a fault or an operation. A missing name is unknown: check the listing before repeating. */
export interface Outcome {
  readonly name: string;
  /** The name the cloud gave it, where the cloud insists on its own. */
  readonly machine?: string | undefined;
  /** Refused, or failed after the cloud had agreed. */
  readonly fault?: Fault | undefined;
  /** Pending: the cloud has agreed and is not done. The text tells `check` of any server what to ask for. */
  readonly operation?: string | undefined;
}

/** A machine that its cloud has agreed to make; whether it comes is not known yet. */
export interface PendingCreate {
  readonly name: string;
  readonly operation: string;
}

type MachineCall = (machines: readonly Machine[], signal: AbortSignal) => Promise<readonly Outcome[]>;

/** Idle machines stop and keep their disks; the next launch wakes one of them in place of making another. */
export interface Parking {
  /** How many to keep for a pool. */
  readonly most: number;
  /** One that was made longer ago than this is deleted. */
  readonly maxAgeMs?: number | undefined;
  /** Repeating is safe; one that is stopped already is a success. */
  readonly suspend: MachineCall;
  readonly resume: MachineCall;
}

/** Makes, lists and deletes machines of one kind. */
export interface Backend {
  /** What shares a listing. It names the account, never the credential: with another cloud, workers are replaced. */
  readonly cloud: string;
  /** Where its machines are, if clouds of several listings show the same ones: between these, workers stay. Absent: its cloud. */
  readonly place?: string | undefined;
  /** What shares a rate budget and a credential; absent: its cloud. */
  readonly account?: string | undefined;
  /** Its listings are never late. */
  readonly isExact?: true | undefined;
  /** It may put another machine under the name of one that was lost; their ids tell them apart. */
  readonly reusesNames?: true | undefined;
  /** The shortest time between two listings on demand, where they cost little; absent: two seconds. */
  readonly leastGapMs?: number | undefined;
  /** All of our cluster's machines in this cloud, every page, or throws. */
  list(signal: AbortSignal): Promise<readonly Machine[]>;
  /** Each name is made, refused (`fault`), pending (`operation`), or left out where that is unknown. Repeating a launch makes nothing twice. */
  create(launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]>;
  /**
   * How pending creations ended: `operation` is still pending, `fault` a late failure, neither is made, left out is unknown.
   * Any server may ask, as often as it likes; what failed stays failed.
   */
  check?(pending: readonly PendingCreate[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** A machine that is absent is a success, which its cloud says of it alone and no listing does; a foreign mark is refused. */
  delete(machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** Present where the cloud can keep a machine without paying for it in full, and the pool wants that. */
  readonly park?: Parking | undefined;
  /**
   * What the configuration comes to at this time: the newest image of a name, the default version of a template. It is
   * part of the shape of the machines, so that those of another form are known as outdated.
   */
  form?(signal: AbortSignal): Promise<string>;
  /** In dollars, where the cloud has prices; asked at most once an hour. What the pool says of its price wins. */
  pricePerHour?(signal: AbortSignal): Promise<number | undefined>;
  /** What it knows of a machine at this moment without a call, where it follows its cloud: newer than any listing. */
  known?(name: string): Machine | undefined;
  /** A hint that the listing may have changed: it is listed again soon. Listing at intervals goes on regardless. */
  watch?(changed: () => void, signal: AbortSignal): void;
  close?(): Promise<void>;
}

/** One pool definition as a source holds it. */
export interface Document {
  readonly key: string;
  readonly version: string;
  /** Absent: still the version held. */
  readonly text?: string | undefined;
  /** This document could not be read; the others could. */
  readonly fault?: Fault | undefined;
  /**
   * Its writer has deleted it and waits for `gone`: its pool drains at once, without a second listing, a guard or a word
   * from other sources.
   */
  readonly isDeleted?: true | undefined;
  /** With `isDeleted`: its writer does not wait for busy workers either. */
  readonly isForced?: true | undefined;
  /** When its writer made it, where the source knows: of two definitions of one name in a source, the older one counts. */
  readonly since?: number | undefined;
  /** Its writer asks to thaw its pool; the freeze of the fleet is not theirs to end. It is reported once that is done. */
  readonly isThawAsked?: true | undefined;
  /**
   * Where its keys stand for its writer, where the source made the text itself: `auto_scaler.max_agents` →
   * `spec.autoscaler.maxReplicas`. Problems are then named by these paths, without a line.
   */
  readonly paths?: Readonly<Record<string, string>> | undefined;
}

/** What a source keeps across restarts, beside its documents: how it reads its own configuration. */
export interface SourceMemory {
  /** What it kept at an earlier listing, also of another process. */
  readonly decided: Readonly<Record<string, string>>;
  /** The keys of the documents that are known, also those that an earlier process read. */
  keys(): Iterable<string>;
  /** In place of all that it kept before; durable before the documents of this listing are. */
  keep(decided: Readonly<Record<string, string>>): void;
}

/** Says which pools should exist. */
export interface Source {
  /** Its documents come from its configuration alone: a missing one was taken out by the operator, and nothing is held. */
  readonly isDefinite?: true | undefined;
  /** The whole set, or throws; `held` maps keys to the versions that we have. The very same list as before says that nothing has changed: a list is never changed in place. */
  documents(
    held: ReadonlyMap<string, string>,
    signal: AbortSignal,
    memory?: SourceMemory,
  ): Promise<readonly Document[]>;
  /** What people should know of how it read its configuration at the last listing. */
  notes?(): readonly string[];
  /** A hint that the answer may have changed; polling goes on regardless. */
  watch?(changed: () => void, signal: AbortSignal): void;
  /**
   * Reports to the writer of a document how its pool is doing; `gone`: the pool is removed, down to the last worker.
   * Repeating is safe.
   */
  report?(key: string, status: DocumentReport | 'gone', signal: AbortSignal): Promise<void>;
  /** Called once, when the source is configured no longer, or otherwise, or the server stops. */
  close?(): Promise<void>;
}

/** What a kind may use of the outside world; nothing else. */
export interface Context {
  /** Part of every mark. */
  readonly cluster: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly fetch: typeof fetch;
  /** The one of that key that all kinds of the provider share in this server: a client with its limits and tokens. Made at the first call. */
  readonly shared: Shared;
  /** Where a kind may keep files of its own. */
  readonly dataDir: string;
  /** How to run our agent on this very machine: program and first arguments. */
  readonly agentCommand: readonly string[];
  /** What agents on this very machine find in their environment: PATH, HOME, LANG. Never secrets. */
  readonly agentEnv?: Readonly<Record<string, string>> | undefined;
  /** An environment variable of the server; only those that the provider declares. Empty counts as absent. */
  variable?(name: string): string | undefined;
  /** By provider id: how many times its published request limits an account has; absent: once. */
  readonly rates?: Readonly<Record<string, number>> | undefined;
  /**
   * The cluster that a configuration names: by a kind of the family `clusters` among its keys, or by `cluster`, a name
   * under `clusters` in the server's file. With neither the one that kubectl would use, else the one we run in. The same
   * access for the same cluster; the server closes it.
   */
  clusterAt?(config: Readonly<Record<string, unknown>>): Promise<ClusterAccess>;
  /** `fetch` for servers behind a socket of this machine, that the system does not trust, or that want a certificate from us. */
  fetchWith?(reach: ServerReach): typeof fetch;
  /** `fetch` goes straight to the network, through no proxy, test or simulation: an SDK may use connections of its own. */
  readonly isDirect?: true | undefined;
  /** How this program names itself to others: `muster/0.1.0`. Requests by `fetch` have it already. */
  readonly userAgent?: string | undefined;
  /** For clouds whose API is gRPC. */
  readonly unary?: Unary | undefined;
  /** For kinds that run programs of this machine in an environment of their own; absent: nothing may be run. */
  readonly programs?: Programs | undefined;
}

/** One configurable thing that a provider offers. */
export interface Kind<Config, Instance> {
  readonly summary: string;
  /** Keys in camelCase; users write snake_case or camelCase. */
  readonly config: z.ZodType<Config>;
  /** A complete, valid configuration as a user would write it: shown in the docs, used by the conformance suite. */
  readonly example: Readonly<Record<string, unknown>>;
  /** `operator only`: runs code on the server or reads its files, so only the operator's own file may name it. */
  readonly trust: 'any source' | 'operator only';
  /** For sources: the place they read (`us-west-2:/velda/pools/`), which with the kind is their identity where they have no name. */
  place?(config: Config): string;
  /** For sources: their documents are made from the operator's own settings, and count as the operator's. */
  readonly isOperators?: true | undefined;
  /**
   * For sources: operator-only backends that its documents may name all the same. The source itself sets what decides
   * where they act (cluster, namespace), and passes on nothing of that from the writers of its documents.
   */
  readonly mayName?: readonly string[] | undefined;
  /** Its machines are processes of this very computer: listings are never late, and idle ones are stopped along with the server. */
  readonly isLocal?: true | undefined;
  /** For backends: its cloud tells what a machine costs, so `pricePerHour` is there. */
  readonly hasPrices?: true | undefined;
  /** For local kinds: whether sessions with this configuration run as another user than the server. */
  runsAsOther?(config: Config): boolean;
  /** Calls a second that the cloud allows, shared by all that is opened on the same account. Absent where its client counts each request by `rates`: an account has one limit. */
  readonly limits?: { readonly read: number | Rate; readonly write: number | Rate } | undefined;
  /**
   * For backends: its machines have no agent of their own and run `bootScript` once. Before it is opened the server packs
   * the agent, so that every launch carries `boot.install`.
   */
  readonly boots?: 'script' | undefined;
  /** How many machines one `create` or `delete` may be about, at most 1,024; absent: 50. */
  readonly batch?: number | undefined;
  /** For image builders: what this machine lacks whatever the settings say. A builder that cannot be opened without one is not asked itself. */
  needs?(context: Pick<Context, 'programs'>): readonly ImageNeed[];
  open(config: Config, context: Context): Promise<Instance>;
}

// biome-ignore lint/suspicious/noExplicitAny: each kind has its own Config; the registry parses before it opens.
export type AnyKind<Instance> = Kind<any, Instance>;
export type Kinds<Instance> = Readonly<Record<string, AnyKind<Instance>>>;

/** Every family of kinds by its config key, with what one of its kinds is called. A family is one entry here. */
export const FAMILIES = {
  backends: 'backend',
  sources: 'provisioner',
  clusters: 'cluster',
  runtimes: 'runtime',
  nodeGroups: 'node group',
  images: 'image builder',
} as const;
export type Family = keyof typeof FAMILIES;

/** What the kinds of a family open. */
interface Contracts {
  readonly backends: Backend;
  readonly sources: Source;
  readonly clusters: ClusterAccess;
  readonly runtimes: RuntimeHost;
  readonly nodeGroups: NodeGroups;
  readonly images: ImageBuilder;
}

export type ContractOf<F extends Family> = Contracts[F];

type KindsByFamily = { readonly [F in Family]?: Kinds<ContractOf<F>> };

/** Everything one cloud brings: the default export of `providers/<id>/index.ts`. Kinds are named by their config key. */
export interface Provider extends KindsByFamily {
  readonly id: string;
  readonly title: string;
  /** The environment variables of the server that its kinds may read: `EXAMPLE_API_TOKEN`. */
  readonly variables?: readonly string[] | undefined;
}

/** Ties a kind's schema to its `open`, so that TypeScript checks the one against the other. */
export function kind<Config, Instance>(definition: Kind<Config, Instance>): Kind<Config, Instance> {
  return definition;
}
