// What the holder runs: the plane, its edges, and the reload of its configuration.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity } from '#access/tls.ts';
import { writeAgentConfig } from '#config/agent-file.ts';
import type { Environment } from '#config/environment.ts';
import type { LoadedConfig } from '#config/load.ts';
import { watchConfig } from '#config/reload.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { SELF } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { Redactor } from '#journal/redact.ts';
import { startApi } from '../api/app.ts';
import { openMetrics } from '../api/metrics.ts';
import { createAgentLink, startBroker } from '../broker/broker.ts';
import { formatAddress } from '../edge/address.ts';
import type { Front } from '../edge/front.ts';
import type { Lock } from '../edge/secure.ts';
import { openInstaller } from '../installer/installer.ts';
import { brokerAddress, needsTls, reachable, serverNames } from './addresses.ts';
import { loadKinds, redactBackendConfig } from './kinds.ts';
import { withNewPools } from './new-pools.ts';
import { type Plane, startPlane } from './plane.ts';
import { openSources } from './sources.ts';

export interface HoldingParts {
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
  readonly dataDir: string;
  readonly agentFolder: string;
}

export interface Holding {
  readonly plane: Plane;
  /** How clients reach it: `http://127.0.0.1:8081`. */
  readonly http: string;
  readonly grpc: string;
  reload(): void;
  stop(): Promise<void>;
}

const AGENT_PROGRAM = join(import.meta.dirname, 'agent.ts');
const SERVER_FILE = 'server.json';
// Agents that are told their own work directory by their backend ignore this one.
const AGENT_WORK_DIR = '/tmp/agent';

export async function hold(parts: HoldingParts): Promise<Holding> {
  const { clock, log, store, front, loaded } = parts;
  const { config } = loaded;
  const startedAt = clock.now();
  const { http, grpc } = front.addresses;
  const kinds = await loadKinds(config.plugins);
  const broker = brokerAddress(config, grpc);
  const isPlain = (address: typeof http): boolean => !needsTls(address);
  let ca: string | undefined;
  const installer = await openInstaller({
    entry: AGENT_PROGRAM,
    folder: parts.agentFolder,
    version: parts.version,
    node: process.execPath,
    system: { name: process.platform, machine: process.arch },
    facts: () => ({ broker, ca }),
  });
  const context: Context = {
    cluster: store.cluster,
    clock,
    random: systemRandom,
    log,
    fetch,
    dataDir: parts.dataDir,
    agentCommand: [process.execPath, installer.bundle.path],
  };
  const link = createAgentLink();
  const metrics = openMetrics({ store, clock, withProcess: true });
  const plane = await startPlane({
    ...parts,
    random: systemRandom,
    kinds,
    context,
    link,
    sources: await openSources(config, kinds, context),
    retention: {
      events: config.retention.eventsMs,
      decisions: config.retention.decisionsMs,
      ended: config.retention.sessionsMs,
      output: config.retention.outputMs,
    },
    times: { reconnectGraceMs: config.agent.reconnectGraceMs },
    bootConfig: (pool) =>
      writeAgentConfig({
        broker: { address: broker, ca },
        pool: pool.name,
        slots: pool.spec.scaling.slotsPerAgent,
        workDir: AGENT_WORK_DIR,
        labels: {},
        leaseMs: config.agent.leaseMs,
      }),
    observeCall: ({ cloud, call, durationMs, fault }) =>
      metrics.cloudCall({ kind: cloud.split(':')[0] ?? cloud, call, fault, ms: durationMs }),
  });
  const { access } = plane;
  const names = serverNames(config, [http, grpc]);
  const identity =
    config.tls.cert === undefined || config.tls.key === undefined
      ? access.issueServerIdentity(names)
      : ownIdentity(
          {
            certificate: readFileSync(config.tls.cert, 'utf8'),
            key: readFileSync(config.tls.key, 'utf8'),
            ca: config.tls.ca === undefined ? undefined : readFileSync(config.tls.ca, 'utf8'),
          },
          clock,
        );
  ca = isPlain(grpc) ? undefined : identity.ca;
  const lock: Lock = { certificate: identity.certificate, key: identity.key };
  const open = config.allowNewPool ? withNewPools(plane) : plane;
  let whyNotReady: string | undefined;
  const httpUrl = `${isPlain(http) ? 'http' : 'https'}://${reachable(http)}`;

  const brokerDoor = startBroker({
    link,
    workers: open.workers,
    sessions: open.sessions,
    view: store.view,
    durable: () => store.durable(),
    authorize: ({ token, peerAddress }, role) => authorize(plane, { token, peerAddress }, role),
    clock,
    log,
    version: parts.version,
    cluster: store.cluster,
    leaseMs: config.agent.leaseMs,
  });
  const api = await startApi({
    store,
    clock,
    random: systemRandom,
    log,
    journal: plane.journal,
    access,
    pools: plane.pools,
    workers: plane.workers,
    sessions: open.sessions,
    agentFiles: installer,
    metrics,
    server: {
      version: parts.version,
      pid: process.pid,
      storeKind: parts.storeKind,
      startedAt,
      addresses: () => ({ http: httpUrl, grpc: broker }),
      hosts: () => names,
      whyNotReady: () => whyNotReady,
    },
    dataDir: parts.dataDir,
    redactConfig: redactBackendConfig(kinds),
    redactText: parts.redactor.text,
  });
  front.serve(
    { http: (socket) => void api.server.emit('connection', socket), grpc: (socket) => brokerDoor.accept(socket) },
    {
      ...(isPlain(http) ? {} : { http: lock }),
      ...(isPlain(grpc) ? {} : { grpc: { ...lock, clientCa: access.ca.certificate } }),
    },
  );
  const serverFile = join(parts.dataDir, SERVER_FILE);
  const left = {
    pid: process.pid,
    http: httpUrl,
    grpc: formatAddress(grpc),
    epoch: store.epoch,
    version: parts.version,
  };
  writeFileSync(serverFile, `${JSON.stringify(left)}\n`, { mode: 0o600 });
  log('info', 'serving', {
    http: httpUrl,
    grpc: broker,
    store: parts.storeKind,
    epoch: store.epoch,
    cluster: store.cluster,
  });

  const watch = watchConfig({
    clock,
    current: loaded,
    load: parts.load,
    changed(next, needRestart) {
      void openSources(next.config, kinds, context).then((sources) => plane.pools.setSources(sources));
      log('info', 'configuration applied', { file: next.file, needRestart });
      const rest = needRestart.length === 0 ? '' : ` Only a restart changes ${needRestart.join(', ')}.`;
      const message = `The configuration was read again.${rest}`;
      void store
        .commit([plane.journal.event({ kind: 'config.applied', subject: 'server', message }, SELF)])
        .catch(() => {});
    },
    refused(fault) {
      log('error', 'configuration refused, the old one stays', { error: fault.message });
      const event = plane.journal.event({ kind: 'config.refused', subject: 'server', message: fault.message }, SELF);
      void store.commit([event]).catch(() => {});
    },
  });

  return {
    plane,
    http: httpUrl,
    grpc: broker,
    reload: () => watch.poke(),
    async stop() {
      whyNotReady = 'The server is stopping.';
      watch.stop();
      await brokerDoor.stop();
      await api.close();
      await plane.stop();
      metrics.stop();
      rmSync(serverFile, { force: true });
      await store.close();
    },
  };
}

/** The calls of Velda's command line carry the same tokens as ours. */
function authorize(
  plane: Plane,
  { token, peerAddress }: { token: string | undefined; peerAddress: string },
  role: 'viewer' | 'operator' | 'admin',
) {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const caller = plane.access.authenticate({ authorization, from: peerAddress });
  const order = ['viewer', 'operator', 'admin'];
  if (order.indexOf(caller.role) >= order.indexOf(role)) return caller;
  throw new Fault('denied', `This needs the role ${role}, and the token has ${caller.role}.`);
}
