// What the holder runs: the plane, its edges, and the reload of its configuration.
import type { Access } from '#access/access.ts';
import { type Clusters, openClusters } from '#clouds/clusters.ts';
import { type Gate, openGate } from '#clouds/gate.ts';
import { writeAgentConfig } from '#config/agent-file.ts';
import type { Environment } from '#config/environment.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { LoadedConfig } from '#config/load.ts';
import { CONFIG_SOURCE } from '#config/server-file.ts';
import type { Clock } from '#core/clock.ts';
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { Fault } from '#core/fault.ts';
import type { AgentOwner } from '#core/feature.ts';
import type { Log } from '#core/log.ts';
import type { Boot, Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Store } from '#core/store.ts';
import type { Redactor } from '#journal/redact.ts';
import { removeBackupLeftovers } from '../api/backup-leftovers.ts';
import { type Metrics, openMetrics } from '../api/metrics.ts';
import { createAgentLink, type LateAgentLink } from '../broker/broker.ts';
import { formatAddress } from '../edge/address.ts';
import { PROTOCOLS } from '../edge/forward.ts';
import type { Front } from '../edge/front.ts';
import type { OpenConnections } from '../edge/open-connections.ts';
import { openOutbound } from '../edge/outbound.ts';
import { readProxies } from '../edge/proxies.ts';
import { openContents } from '../files/open-contents.ts';
import type { Bundle } from '../installer/bundle.ts';
import { type Installer, openInstaller } from '../installer/installer.ts';
import type { NodeRuntime } from '../installer/runtime.ts';
import { brokerAddresses, needsTls, reachable } from './addresses.ts';
import { agentFolder, makeAgentProgram } from './agent-program.ts';
import { trustedBy } from './identity.ts';
import { loadKinds } from './kinds.ts';
import { openListeners } from './listeners.ts';
import { type Plane, startPlane } from './plane.ts';
import { followConfig } from './reload.ts';
import { writeServerRecord } from './server-record.ts';
import { type ConfiguredSources, configuredSources } from './sources.ts';
import { readCommit } from './version.ts';

export interface HolderParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly version: string;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly loaded: LoadedConfig;
  load(): Promise<LoadedConfig>;
  readonly store: Store;
  readonly storeKind: string;
  readonly front: Front;
  readonly connections: OpenConnections;
  readonly dataDir: string;
  /** The agent's program, where it was made ready while this process waited to become the holder. */
  readonly agentProgram?: Promise<Bundle>;
  /** What agents get to run on, for each kind of machine. */
  readonly runtimes: readonly NodeRuntime[];
}

interface Trust {
  http: string | undefined;
  grpc: string | undefined;
}

/** What the edges and the plane of one holder share. */
export interface ServerContext extends HolderParts {
  readonly startedAt: number;
  readonly kinds: KnownKinds;
  readonly context: Context;
  readonly clusters: Clusters;
  readonly sources: ConfiguredSources;
  readonly installer: Installer;
  readonly link: LateAgentLink;
  readonly metrics: Metrics;
  readonly gate: Gate;
  /** The addresses that clients and agents get. */
  readonly http: string;
  readonly grpc: string;
  /** Further addresses of the broker, which agents try where the first does not answer. */
  readonly otherBrokers: readonly string[];
  /** What new machines must trust at each port that has TLS; known once access is open. */
  readonly trust: Trust;
}

export interface RunningHolder {
  readonly plane: Plane;
  /** How clients reach it: `http://127.0.0.1:8081`. */
  readonly http: string;
  readonly grpc: string;
  reload(): void;
  /** Removes idle workers on this computer; resolves when they are gone. */
  standDown(): Promise<void>;
  stop(): Promise<void>;
}

// What people expect to find on their own computer; never the server's secrets.
const LOCAL_NAMES = ['PATH', 'HOME', 'LANG', 'SHELL', 'USER', 'LOGNAME', 'TZ', 'TMPDIR'];

function localEnv(environment: Environment): Record<string, string> {
  const found = LOCAL_NAMES.map((name) => [name, environment.variable(name)] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

async function openContext(parts: HolderParts): Promise<ServerContext> {
  const { clock, log, store, front, dataDir, version } = parts;
  const { config } = parts.loaded;
  const { http } = front.addresses;
  const [grpc, ...otherBrokers] = brokerAddresses(config, front.addresses.grpc);
  const trust: Trust = { http: undefined, grpc: undefined };
  const installer = openInstaller({
    bundle: await (parts.agentProgram ?? makeAgentProgram(dataDir, version)),
    folder: agentFolder(dataDir),
    runtimes: parts.runtimes,
    facts: () => ({ broker: grpc, otherBrokers, brokerCa: trust.grpc, originCa: trust.http }),
  });
  const agentCommand = [process.execPath, installer.bundle.path];
  const kinds = await loadKinds(config.plugins);
  const outside: Context = {
    cluster: store.cluster,
    clock,
    random: systemRandom,
    log,
    ...openOutbound({ proxyFor: readProxies(parts.environment.variable), userAgent: `muster/${version}` }),
    shared: openShared(),
    dataDir,
    agentCommand,
    agentEnv: localEnv(parts.environment),
    rates: config.requestRates,
    variable: (name) => parts.environment.variable(name),
  };
  const clusters = openClusters({ kinds: kinds.clusters ?? {}, named: config.clusters, context: outside, log });
  const context: Context = { ...outside, clusterAt: clusters.at };
  const metrics = openMetrics({ store, clock, withProcess: true, build: { version, commit: readCommit() } });
  const gate = openGate({
    store,
    clock,
    log,
    observe: ({ account, call, durationMs, fault }) =>
      metrics.cloudCall({ kind: account.split(':')[0] ?? account, call, fault, ms: durationMs }),
  });
  return {
    ...parts,
    startedAt: clock.now(),
    kinds,
    context,
    clusters,
    sources: configuredSources({ kinds, context, gate }),
    installer,
    link: createAgentLink(),
    metrics,
    gate,
    http: `${needsTls(http) ? 'https' : 'http'}://${reachable(http)}`,
    grpc,
    otherBrokers,
    trust,
  };
}

function agentConfig({ grpc, otherBrokers, loaded, front }: ServerContext, owner: AgentOwner, access: Access): string {
  const ca = needsTls(front.addresses.grpc) ? trustedBy(loaded.config, access) : undefined;
  return writeAgentConfig({
    broker: { address: grpc, otherAddresses: otherBrokers, ca },
    pool: owner.name,
    slots: owner.slots,
    // A backend that gives its agents a work directory of their own overrides it.
    workDir: DEFAULT_AGENT_WORK_DIR,
    labels: {},
    leaseMs: loaded.config.agent.leaseMs,
    serve: owner.port,
    endsAt: owner.endsAt,
  });
}

/** Where new machines get the agent, once that is packed. */
function installFor({ http, loaded, front, installer }: ServerContext, access: Access): Boot['install'] {
  const offered = installer.offered()?.filter(({ system }) => system === 'Linux');
  if (!offered || offered.length === 0) return undefined;
  const ca = needsTls(front.addresses.http) ? trustedBy(loaded.config, access) : undefined;
  const origin = loaded.config.access.publicUrl?.replace(/\/+$/, '') ?? http;
  const archives = offered.map(({ machine, name, sha256 }) => ({ machine, url: `${origin}/agent/${name}`, sha256 }));
  return { archives, ...(ca === undefined ? {} : { ca }) };
}

async function openPlane(server: ServerContext): Promise<Plane> {
  const { loaded } = server;
  const sources = await server.sources.open(loaded.config);
  server.sources.use(sources);
  const { retention, agent, files } = loaded.config;
  return startPlane({
    ...server,
    contents: await openContents({ dataDir: server.dataDir, store: loaded.config.store, epoch: server.store.epoch }),
    fileLimits: files,
    random: systemRandom,
    sources,
    retention,
    sections: loaded.config.sections,
    times: { reconnectGraceMs: agent.reconnectGraceMs },
    // A launch may happen before the ports are open, so this asks access itself.
    agentConfig: (owner, access) => agentConfig(server, owner, access),
    packAgent: () => server.installer.offer(),
    install: (access) => installFor(server, access),
  });
}

/** Beyond loopback anyone may ask for the agent: it is packed before, so that no caller makes the server work for it. */
export function packForOthers({ front, installer, log }: Pick<ServerContext, 'front' | 'installer' | 'log'>): void {
  if (!needsTls(front.addresses.http)) return;
  installer.offer().then(
    () => log('info', 'agent packed', { archives: installer.offered()?.map(({ name }) => name) ?? [] }),
    (thrown) => log('warn', 'agent not packed', { error: Fault.from(thrown).message }),
  );
}

/** Beyond loopback others may have the role operator: their sessions in such pools run as the user of this process. */
export function warnOfLocalPools({
  front,
  loaded,
  kinds,
  log,
}: Pick<ServerContext, 'front' | 'loaded' | 'kinds' | 'log'>): void {
  if (!Object.values(front.addresses).some(needsTls)) return;
  const runsAsServer = ({ spec }: LoadedConfig['config']['pools'][number]): boolean =>
    spec.offers.some(({ kind, config }) => {
      const known = kinds.backends[kind];
      return known?.isLocal === true && known.runsAsOther?.(config) !== true;
    });
  const pools = loaded.config.pools.filter(runsAsServer).map(({ spec }) => spec.name);
  if (pools.length === 0) return;
  const who = 'sessions of these pools run as the user of the server, and can read all of its files';
  log('warn', who, {
    pools,
    remedy: 'Set `user` of the backend `process`, or give the role operator only to people whom you trust with that.',
  });
}

/** Starts everything that only the holder may run. */
export async function startHolder(parts: HolderParts): Promise<RunningHolder> {
  const left = removeBackupLeftovers(parts.dataDir);
  if (left > 0) parts.log('warn', 'removed backups that were cut short', { backups: left });
  const server = await openContext(parts);
  const { log, store, http, grpc } = server;
  const plane = await openPlane(server);
  const { addresses } = parts.front;
  for (const protocol of PROTOCOLS) {
    if (needsTls(addresses[protocol])) server.trust[protocol] = trustedBy(parts.loaded.config, plane.access);
  }
  const listeners = await openListeners(server, plane);
  packForOthers(server);
  warnOfLocalPools(server);
  const record = { pid: process.pid, http, grpc: formatAddress(addresses.grpc), epoch: store.epoch };
  const removeRecord = writeServerRecord(parts.dataDir, { ...record, version: parts.version }, server.trust.http);
  // Those who wait for this line ask for the pools of the file.
  await plane.pools.firstSync(CONFIG_SOURCE);
  log('info', 'serving', { http, grpc, store: parts.storeKind, epoch: store.epoch, cluster: store.cluster });
  const config = followConfig(server, plane);

  return {
    plane,
    http,
    grpc,
    reload: () => config.poke(),
    standDown: () => plane.workers.standDown(({ kind }) => server.kinds.backends[kind]?.isLocal === true),
    async stop() {
      config.stop();
      removeRecord();
      // During shutdown we close agent connections ourselves; that is no mass loss.
      await plane.workers.standDown(() => false);
      await listeners.close();
      await plane.stop();
      await server.clusters.closeAll();
      server.metrics.stop();
      await store.close();
    },
  };
}
