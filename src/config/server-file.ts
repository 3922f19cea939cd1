import { DEFAULT_DATA_DIR } from '#core/defaults.ts';
import type { FileLimits } from '#core/file.ts';
import type { PoolSpec } from '#core/pool.ts';
import type { Problem } from '#core/problem.ts';
import type { Document } from '#core/provider.ts';
import type { ExpectedLaunches } from '#core/scaling-warnings.ts';
import type { HistoryName } from '#core/store.ts';
import { canonicalJson, shortHash } from './canonical.ts';
import type { Environment } from './environment.ts';
import { fitToSchema, newWalk } from './fit-to-schema.ts';
import { toCamel } from './keys.ts';
import type { Chosen, KnownKinds } from './kinds.ts';
import { byPlace, locate, parseWith } from './parse.ts';
import { poolWarnings, schemaFor } from './pool-document.ts';
import { type Parsed, problemAt } from './problem.ts';
import type { Schema } from './schema-walk.ts';
import { sectionsInEnvironment } from './section-variables.ts';
import { type ConnectionLimits, type Listen, retentionOf, type StoreConfig } from './server-fields.ts';
import { SECOND_POOL, type ServerFile, serverSchema } from './server-schema.ts';
import type { SourceConfig } from './source-schema.ts';
import { type ConfigNode, child } from './tree.ts';
import { OPERATOR_LIMITS, readYaml } from './yaml-document.ts';

/** The source of the pools that the server's own file defines. */
export const CONFIG_SOURCE = 'config';

/** A pool of the server's own file, and the document that makes it. */
export interface StaticPool {
  readonly spec: PoolSpec;
  readonly document: Document & { readonly text: string };
}

/** The server configuration, validated; times in milliseconds. Contains secrets: never log it. */
export interface ServerConfig {
  readonly grpc: Listen;
  readonly http: Listen;
  /** Where other replicas reach this one; absent: beside `http`. */
  readonly peer?: Listen | undefined;
  readonly limits: ConnectionLimits;
  /** What uploaded files may take. */
  readonly files: FileLimits;
  readonly dataDir: string;
  readonly store: StoreConfig;
  readonly pools: readonly StaticPool[];
  readonly sources: readonly SourceConfig[];
  /** Kubernetes clusters by name. */
  readonly clusters: Readonly<Record<string, Chosen>>;
  readonly allowNewPool: boolean;
  readonly broker: {
    readonly address?: string | undefined;
    readonly addresses: readonly string[];
    readonly publicAddress: readonly string[];
  };
  readonly tls: {
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    readonly ca?: string | undefined;
    /** The broker serves agents without TLS too. */
    readonly plaintextGrpc?: boolean | undefined;
  };
  readonly access: { readonly publicUrl?: string | undefined; readonly allowedHosts: readonly string[] };
  readonly agent: {
    readonly leaseMs: number;
    readonly reconnectGraceMs: number;
    /** By platform, as Node names it: the Node that agents get there. */
    readonly runtimes: Readonly<Record<string, string>>;
  };
  /** By history, in milliseconds. */
  readonly retention: Readonly<Record<HistoryName, number>>;
  readonly log: { readonly level: ServerFile['log']['level']; readonly format: ServerFile['log']['format'] };
  /** By provider: how many times its published limits the account has. */
  readonly requestRates: Readonly<Record<string, number>>;
  readonly plugins: readonly string[];
  /** The sections of features, by key. */
  readonly sections: Readonly<Record<string, unknown>>;
}

export interface ReadServerOptions {
  readonly kinds: KnownKinds;
  readonly environment: Environment;
  /** Of the file; paths in it are relative to that. */
  readonly directory?: string | undefined;
  /** Lets warnings say what they come to; absent where there may be many pools. */
  readonly expected?: ExpectedLaunches | undefined;
}

/** Reads the server's file: the whole configuration, or all its problems. */
export function readServerFile(text: string, options: ReadServerOptions): Parsed<ServerConfig> {
  const tree = readYaml(text, OPERATOR_LIMITS);
  return tree.problems ? tree : readServerNode(tree.value, options);
}

export function readServerNode(root: ConfigNode, options: ReadServerOptions): Parsed<ServerConfig> {
  const { head, pools } = partServerNode(root);
  const reading = openServerReading(head, pools?.key, options);
  for (const item of pools?.items ?? []) reading.readPool(item);
  return reading.end();
}

/** The server's file without its pools, and those: each of them is read by itself. Absent where there is no such list. */
export function partServerNode(root: ConfigNode): {
  readonly head: ConfigNode;
  readonly pools?: { readonly key: string; readonly items: readonly ConfigNode[] };
} {
  const named = root.is === 'map' ? root.entries.filter(({ key }) => POOL_KEYS.includes(key)) : [];
  const [entry, second] = named;
  if (root.is !== 'map' || entry?.value.is !== 'list' || second) return { head: root };
  const head = { ...root, entries: root.entries.filter((other) => other !== entry) };
  return { head, pools: { key: entry.key, items: entry.value.items } };
}

const POOL_KEYS: readonly string[] = ['agent_pools', 'agentPools'];

/** Reads a server's file piece by piece, so that a long one need not be read in one go. */
export interface ServerReading {
  readPool(item: ConfigNode): void;
  /** The whole configuration, or all its problems. */
  end(): Parsed<ServerConfig>;
}

// A file that an editor or a full disk has cut to nothing would otherwise remove every pool.
const EMPTY_FILE: ServerReading = {
  readPool() {},
  end: () => ({
    problems: [problemAt('', undefined, 'the file is empty; write {} to mean the defaults')],
    warnings: [],
  }),
};

/** `poolsKey`: as the file spells it, where its pools come one by one; otherwise they are in the head, or missing. */
export function openServerReading(
  head: ConfigNode,
  poolsKey: string | undefined,
  options: ReadServerOptions,
): ServerReading {
  if (head.is === 'scalar' && head.value === null) return EMPTY_FILE;
  const { kinds, environment, directory, expected } = options;
  const schema = schemaFor({ kinds: kinds.backends, trust: 'operator' });
  const file = parseWith(serverSchema(kinds), head, { expand: environment, directory });
  const outside = sectionsInEnvironment(kinds, head, environment);
  const problems: Problem[] = [...(file.problems ?? []), ...(outside.problems ?? [])];
  const warnings: Problem[] = [...file.warnings, ...outside.warnings];
  const pools: StaticPool[] = [];
  const names = new Set<string>();
  let count = 0;
  return {
    readPool(item) {
      const under = `${poolsKey}[${count++}]`;
      const read = parseWith(schema, item, { expand: environment, under });
      warnings.push(...read.warnings);
      if (read.problems) problems.push(...read.problems);
      if (!read.value) return;
      const { name } = read.value;
      const { path, place } = locate(item, ['name'], under);
      if (names.has(name)) problems.push(problemAt(path, place, SECOND_POOL));
      names.add(name);
      warnings.push(...poolWarnings(read.value, item, { under, expected }));
      pools.push({ spec: read.value, document: staticDocument(read.value, item, { schema, environment }) });
    },
    end() {
      if (problems.length > 0 || !file.value) return { problems: problems.toSorted(byPlace), warnings };
      const sections = { ...sectionsIn(file.value, kinds), ...outside.value };
      return { value: { ...configOf(file.value, pools, environment), sections }, warnings };
    },
  };
}

function sectionsIn(file: ServerFile, { sections = [] }: KnownKinds): ServerConfig['sections'] {
  const values = file as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(sections.map(({ key }) => [key, values[toCamel(key)]]));
}

function configOf(
  file: ServerFile,
  pools: readonly StaticPool[],
  environment: Environment,
): Omit<ServerConfig, 'sections'> {
  const dataDir = file.dataDir ?? environment.dataDir ?? DEFAULT_DATA_DIR;
  return {
    grpc: file.server.grpcAddress,
    http: file.server.httpAddress,
    peer: file.server.peerAddress,
    limits: file.server.limits,
    files: file.files,
    dataDir,
    store: file.store ?? { kind: 'sqlite', directory: dataDir },
    pools,
    sources: file.provisioners,
    clusters: file.clusters,
    allowNewPool: file.allowNewPool,
    broker: file.defaultBrokerInfo,
    tls: file.tls ?? {},
    access: file.access,
    agent: {
      leaseMs: file.agent.lease,
      reconnectGraceMs: file.agent.reconnectGrace,
      runtimes: file.agent.runtimes,
    },
    retention: retentionOf(file.retention),
    log: file.log,
    requestRates: file.requestRates,
    plugins: file.plugins,
  };
}

/** The pool as a document of its own, already expanded, so that it reads the same wherever it is read again. */
function staticDocument(
  { name }: PoolSpec,
  item: ConfigNode,
  { schema, environment }: { readonly schema: Schema; readonly environment: Environment },
): StaticPool['document'] {
  const walk = { ...newWalk(environment), escape: true };
  const text = canonicalJson(fitToSchema(schema, item, { path: '', walk }));
  return { key: name, version: shortHash(text), text };
}

/** The pools of the file as the documents of the source `config`. */
export function staticDocuments(config: ServerConfig): readonly StaticPool['document'][] {
  return config.pools.map(({ document }) => document);
}

/** The packages that the file names, read before their kinds are known; what is wrong there shows when the file is read. */
export function pluginsIn(root: ConfigNode): readonly string[] {
  const list = child(root, 'plugins');
  if (list?.is !== 'list') return [];
  return list.items.flatMap((item) => (item.is === 'scalar' && typeof item.value === 'string' ? [item.value] : []));
}
