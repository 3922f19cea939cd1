import type { PoolDocument, WrittenPool } from '#config/write-pool.ts';
import type { Role } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import type { PublicFeatures } from '#core/feature.ts';
import type { Files } from '#core/file.ts';
import type { Log } from '#core/log.ts';
import type { PoolSpec } from '#core/pool.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { Access } from '../access/access.ts';
import type { OpenConnections } from '../edge/open-connections.ts';
import type { Journal } from '../journal/journal.ts';
import type { Series } from '../journal/series.ts';
import type { Foresight, Pools } from '../pools/pools.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Workers } from '../workers/workers.ts';
import type { AgentFiles } from './agent-files.ts';
import type { Metrics } from './metrics.ts';
import type { WebFiles } from './web-page.ts';

/** What the server says of itself. */
export interface ServerInfo {
  readonly version: string;
  readonly pid: number;
  /** `sqlite`, `postgres` or `memory`. */
  readonly storeKind: string;
  readonly startedAt: number;
  /** Equal for processes that see the same files. */
  readonly machineId?: string | undefined;
  /** By use: `http`, `grpc`. */
  addresses(): Readonly<Record<'http' | 'grpc', string>>;
  /** Names and addresses, without ports, under which clients reach this server; loopback is always among them. */
  hosts(): readonly string[];
  /** Why no work is taken now; nothing when all is well. */
  whyNotReady(): string | undefined;
}

/** Everything the HTTP API speaks for. */
export interface ApiDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'lastDecision'>;
  readonly series: Pick<Series, 'of'>;
  readonly access: Access;
  readonly pools: Pick<
    Pools,
    'define' | 'remove' | 'pause' | 'sync' | 'synced' | 'approve' | 'timings' | keyof Foresight
  >;
  readonly workers: Pick<
    Workers,
    'drain' | 'release' | 'freeze' | 'thaw' | 'plan' | 'foresee' | 'trouble' | 'troubled' | 'bootWait' | 'limits'
  >;
  readonly sessions: Pick<
    Sessions,
    | 'submit'
    | 'kill'
    | 'refer'
    | 'ended'
    | 'output'
    | 'input'
    | 'inputWaitingBytes'
    | 'resize'
    | 'tunnel'
    | 'machineTunnel'
  >;
  readonly files: Pick<Files, 'missing' | 'put' | 'usage'>;
  /** Nouns that bring their own behaviour. */
  readonly features: PublicFeatures;
  readonly agentFiles: AgentFiles;
  readonly webFiles: WebFiles;
  readonly metrics: Metrics;
  readonly server: ServerInfo;
  /** Where a backup is put together before it is sent. */
  readonly dataDir: string;
  /** The configuration of a backend kind without its secrets, and without what that role may not see. */
  redactConfig(kind: string, config: Readonly<Record<string, unknown>>, role: Role): Readonly<Record<string, unknown>>;
  /** Whether the cloud of a backend kind tells what its machines cost; true where they cost nothing. */
  hasPrices(kind: string): boolean;
  /** Definitions as the documents that their users would write. */
  readonly documents: {
    /** Without its secrets, and without what that role may not see. */
    write(spec: PoolSpec, role: Role): WrittenPool;
    /** Throws where the document would not read back as the same definition. */
    check(spec: PoolSpec): void;
    /** Why a source that the operator does not trust would refuse it. */
    refusedElsewhere(spec: PoolSpec): readonly string[];
    /** With its secrets: to be compared, never to be shown. */
    whole(spec: PoolSpec): PoolDocument;
  };
  /** Takes known secrets out of a text that leaves the process. */
  redactText(text: string): string;
  /** What the edge knows of open connections. */
  readonly connections: Pick<OpenConnections, 'addressOf' | 'authenticated' | 'isProxy'>;
  /** Requests of one token that are being answered. */
  readonly requestsPerToken: number;
}
