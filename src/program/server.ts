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
import { formatAddress } from '../edge/address.ts';
import { openFront } from '../edge/front.ts';
import { type Advert, parseAdvert } from '../edge/passage.ts';
import { reachable, toAddress } from './addresses.ts';
import { agentRuntimes, makeAgentProgram } from './agent-program.ts';
import { type Holding, hold } from './holding.ts';
import { loadKinds } from './kinds.ts';
import { openLog } from './logging.ts';
import { learnConfig } from './secrets.ts';
import { followConfigAsStandby } from './standby-config.ts';

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
  readonly ready: Promise<Holding>;
  /** What it runs as the holder; nothing while it stands by. */
  holding(): Holding | undefined;
  /** Rejects when the server must end: its store failed, or another has taken over. */
  readonly failed: Promise<never>;
  readonly log: Log;
  readonly loaded: LoadedConfig;
  /** Reads the configuration again. */
  reload(): void;
  stop(): Promise<void>;
}

const STORE_THREAD = new URL('./store-thread.mjs', import.meta.url);

function storeUrl({ store }: ServerConfig): string {
  return store.kind === 'sqlite' ? resolve(store.directory) : store.url;
}

/** What this replica tells others of itself; written to the lease when it becomes the holder. */
function advertOf(config: ServerConfig, pass: string): { advert: Advert; peer: string | undefined } {
  if (config.store.kind !== 'postgres') return { advert: { peer: '', pass }, peer: undefined };
  const peer = config.peer ?? { host: config.http.host, port: config.http.port + 1 };
  return { advert: { peer: reachable(toAddress(peer)), pass }, peer: formatAddress(toAddress(peer)) };
}

/** Where the holder is, if that is another process; one that is just becoming it lets clients wait. */
function otherHolder(advertised: unknown, ownPass: string): Advert | undefined {
  const advert = parseAdvert(advertised);
  return advert && advert.pass !== ownPass ? advert : undefined;
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
  const pass = randomBytes(24).toString('hex');
  const { advert, peer } = advertOf(config, pass);
  const replica = await openDatabase(storeUrl(config), {
    random: systemRandom,
    log,
    advertised: advert,
    lost: fail,
    threadFile: STORE_THREAD,
  });
  const front = await openFront({
    http: formatAddress(toAddress(config.http)),
    grpc: formatAddress(toAddress(config.grpc)),
    peer,
    pass,
    holder: () => otherHolder(replica.holder()?.advertised, pass),
    clock,
    log,
  }).catch(async (thrown) => {
    await replica.close();
    throw thrown;
  });
  const stopping = new AbortController();
  let holding: Holding | undefined;
  const following = followConfigAsStandby({ loaded, load, clock, log });

  async function serve(): Promise<Holding> {
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
      dataDir,
      agentProgram,
      runtimes,
    };
    holding = await hold(parts);
    return holding;
  }

  const ready = serve();
  ready.catch((thrown) => {
    following.stop();
    fail(Fault.from(thrown));
  });
  return {
    ready,
    holding: () => holding,
    failed,
    log,
    loaded,
    reload: () => (holding ? holding.reload() : following.poke()),
    async stop() {
      stopping.abort();
      front.close();
      await ready.catch(() => {});
      await holding?.stop();
      await replica.close();
    },
  };
}
