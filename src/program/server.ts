import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Environment } from '#config/environment.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { type LoadedConfig, loadServerConfig } from '#config/load.ts';
import { describeProblem } from '#config/problem.ts';
import type { ServerConfig } from '#config/server-file.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { makeRedactor } from '#journal/redact.ts';
import { openDatabase } from '#store/database.ts';
import { openStore } from '#store/store.ts';
import { type Address, formatAddress } from '../edge/address.ts';
import { type HolderAddress, parseHolderAddress } from '../edge/forward.ts';
import { openFront } from '../edge/front.ts';
import { openConnections } from '../edge/open-connections.ts';
import { clientOrigins, reachable, toAddress } from './addresses.ts';
import { agentRuntimes, makeAgentProgram } from './agent-program.ts';
import { type RunningHolder, startHolder } from './holder.ts';
import { loadKinds } from './kinds.ts';
import { openLog } from './logging.ts';
import { learnConfig } from './secrets.ts';
import { writeOrigins } from './server-record.ts';
import { followConfigAsStandby } from './standby-config.ts';
import { STORE_THREAD } from './store-thread.ts';

export interface ServerOptions {
  readonly config?: string | undefined;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly version: string;
  readonly output: NodeJS.WritableStream;
}

/** A running server, or one that stands by. */
export interface Server {
  /** Resolves once this process is the holder and serves. */
  readonly ready: Promise<RunningHolder>;
  /** What it runs as the holder; nothing while it stands by. */
  holder(): RunningHolder | undefined;
  /** Rejects when the server must end: its store failed, or another has taken over. */
  readonly failed: Promise<never>;
  readonly log: Log;
  readonly loaded: LoadedConfig;
  /** Reads the configuration again. */
  reload(): void;
  stop(): Promise<void>;
}

/** The place of the store, as the configuration says. */
export function storeUrl({ store }: ServerConfig): string {
  return store.kind === 'sqlite' ? resolve(store.directory) : store.url;
}

/** Where other replicas forward connections to; undefined where there can be none. */
function peerOf(config: ServerConfig): Address | undefined {
  if (config.store.kind !== 'postgres') return undefined;
  return toAddress(config.peer ?? { host: config.http.host, port: config.http.port + 1 });
}

/** Where the holder is, if that is another process; one that is just becoming it lets clients wait. */
function otherHolder(published: unknown, ownSecret: string): HolderAddress | undefined {
  const holder = parseHolderAddress(published);
  return holder && holder.secret !== ownSecret ? holder : undefined;
}

/** Reads the configuration, opens store and sockets, and serves as soon as this process is the holder. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { environment, clock } = options;
  const redactor = makeRedactor();
  async function load(): Promise<LoadedConfig> {
    let known: KnownKinds = { backends: {}, sources: {} };
    const kinds = async (plugins: readonly string[]): Promise<KnownKinds> => {
      known = await loadKinds(plugins);
      return known;
    };
    const read = await loadServerConfig({
      named: options.config,
      environment,
      cpus: availableParallelism(),
      kinds,
      clock,
    });
    await learnConfig(redactor, known, { config: read.config, clock });
    return read;
  }
  const loaded = await load();
  const { config } = loaded;
  const log = openLog({ ...config.log, output: options.output, clock, redactor });
  for (const warning of loaded.warnings)
    log('warn', 'configuration', { warning: describeProblem(warning, loaded.file) });

  const runtimes = agentRuntimes(config);
  const dataDir = resolve(config.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Before anything waits: a takeover must not wait for it.
  const agentProgram = makeAgentProgram(dataDir, options.version);
  agentProgram.catch(() => {});
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const secret = randomBytes(24).toString('hex');
  const peer = peerOf(config);
  const published: HolderAddress = { address: peer ? reachable(peer) : '', secret };
  const { unauthenticatedConnections: mostOfAddress, trustedProxies } = config.limits;
  const connections = openConnections({ mostOfAddress, trustedProxies, clock, log });
  const replica = await openDatabase(storeUrl(config), {
    random: systemRandom,
    log,
    advertised: published,
    lost: fail,
    threadFile: STORE_THREAD,
  });
  const front = await openFront({
    http: formatAddress(toAddress(config.http)),
    grpc: formatAddress(toAddress(config.grpc)),
    peer: peer && formatAddress(peer),
    secret,
    holder: () => otherHolder(replica.holder()?.advertised, secret),
    connections,
    clock,
    log,
  }).catch(async (thrown) => {
    await replica.close();
    throw thrown;
  });
  const { http } = front.addresses;
  const removeOrigins = writeOrigins(dataDir, http, clientOrigins(config, http));
  const stopping = new AbortController();
  let holder: RunningHolder | undefined;
  const following = followConfigAsStandby({ loaded, load, clock, log });

  async function serve(): Promise<RunningHolder> {
    if (replica.kind === 'postgres') log('info', 'standing by until this process is the holder');
    const store = await openStore(await replica.hold(stopping.signal), fail);
    const parts = {
      ...options,
      log,
      redactor,
      loaded: await following.end(),
      load,
      store,
      storeKind: replica.kind,
      front,
      connections,
      dataDir,
      agentProgram,
      runtimes,
    };
    holder = await startHolder(parts);
    return holder;
  }

  const ready = serve();
  ready.catch((thrown) => {
    following.stop();
    fail(Fault.from(thrown));
  });
  return {
    ready,
    holder: () => holder,
    failed,
    log,
    loaded,
    reload: () => (holder ? holder.reload() : following.poke()),
    async stop() {
      stopping.abort();
      front.close();
      removeOrigins();
      await ready.catch(() => {});
      await holder?.stop();
      await replica.close();
    },
  };
}
