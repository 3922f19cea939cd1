import type { PoolSpec } from '#core/pool.ts';
import type { Document } from '#core/provider.ts';
import type { HistoryName } from '#core/store.ts';
import { canonicalJson, shortHash } from './canonical.ts';
import type { Environment } from './environment.ts';
import type { KnownKinds } from './kinds.ts';
import { parseWith } from './parse.ts';
import { poolWarnings } from './pool-document.ts';
import { poolSchema } from './pool-schema.ts';
import type { Parsed } from './problem.ts';
import { type Listen, retentionOf, type StoreConfig } from './server-fields.ts';
import { type ServerFile, serverSchema } from './server-schema.ts';
import { shape } from './shape.ts';
import { newWalk } from './shape-scalar.ts';
import type { SourceConfig } from './source-schema.ts';
import { type ConfigNode, child, type ListNode } from './tree.ts';
import { OPERATOR_LIMITS, readYaml } from './yaml-document.ts';

/** The source of the pools that the server's own file defines. */
export const CONFIG_SOURCE = 'config';

/** A pool of the server's own file, and the document that makes it. */
export interface StaticPool {
  readonly spec: PoolSpec;
  readonly document: Document & { readonly text: string };
}

/** Everything the operator has to say, checked; times in milliseconds. Holds secrets: never log it. */
export interface ServerConfig {
  readonly grpc: Listen;
  readonly http: Listen;
  /** Where other replicas reach this one; absent: beside `http`. */
  readonly peer?: Listen | undefined;
  readonly dataDir: string;
  readonly store: StoreConfig;
  readonly pools: readonly StaticPool[];
  readonly sources: readonly SourceConfig[];
  readonly allowNewPool: boolean;
  readonly broker: { readonly address?: string | undefined; readonly publicAddress?: string | undefined };
  readonly tls: {
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    readonly ca?: string | undefined;
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
}

export interface ReadServerOptions {
  readonly kinds: KnownKinds;
  readonly environment: Environment;
}

/** Reads the server's file: the whole configuration, or everything that is wrong with it. */
export function readServerFile(text: string, options: ReadServerOptions): Parsed<ServerConfig> {
  const tree = readYaml(text, OPERATOR_LIMITS);
  return tree.problems ? tree : readServerNode(tree.value, options);
}

export function readServerNode(root: ConfigNode, { kinds, environment }: ReadServerOptions): Parsed<ServerConfig> {
  // An empty file changes no default.
  const isEmpty = root.is === 'scalar' && root.value === null;
  const node: ConfigNode = isEmpty ? { is: 'map', entries: [], place: root.place } : root;
  const { value: file, problems, warnings } = parseWith(serverSchema(kinds), node, { expand: environment });
  if (problems) return { problems, warnings };
  const about = file.agentPools.flatMap((spec, at) => poolWarnings(spec, node, ['agentPools', at]));
  return {
    value: configOf(file, staticPools(file.agentPools, node, { kinds, environment }), environment),
    warnings: [...warnings, ...about],
  };
}

function configOf(file: ServerFile, pools: readonly StaticPool[], environment: Environment): ServerConfig {
  const dataDir = file.dataDir ?? environment.dataDir ?? './data';
  return {
    grpc: file.server.grpcAddress,
    http: file.server.httpAddress,
    peer: file.server.peerAddress,
    dataDir,
    store: file.store ?? { kind: 'sqlite', directory: dataDir },
    pools,
    sources: file.provisioners,
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

/** Each pool as a document of its own, already expanded, so that it reads the same wherever it is read again. */
function staticPools(specs: readonly PoolSpec[], root: ConfigNode, options: ReadServerOptions): readonly StaticPool[] {
  const list = child(root, 'agent_pools', 'agentPools') as ListNode | undefined;
  const schema = poolSchema(options.kinds.backends, 'operator');
  return specs.map((spec, at) => {
    const walk = { ...newWalk(options.environment), escape: true };
    const text = canonicalJson(shape(schema, list?.items[at] as ConfigNode, { path: '', walk }));
    return { spec, document: { key: spec.name, version: shortHash(text), text } };
  });
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
