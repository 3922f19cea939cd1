import { isAtLeast } from '#access/tokens.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { machineId } from '#host/machine-id.ts';
import { type Api, startApi } from '../api/app.ts';
import type { Authorize } from '../broker/authorize.ts';
import { type Broker, startBroker } from '../broker/broker.ts';
import type { Serve } from '../edge/front.ts';
import { connectionKey } from '../edge/open-connections.ts';
import { openTlsListener, type TlsListener, tellTls } from '../edge/secure.ts';
import { needsTls, serverNames } from './addresses.ts';
import type { ServerContext } from './holder.ts';
import { poolDocuments, redactBackendConfig } from './kinds.ts';
import { withNewPools } from './new-pools.ts';
import type { Plane } from './plane.ts';
import { renewCertificates } from './renew-certificates.ts';
import { openWebFiles } from './web-files.ts';

/** The calls of Velda's command line carry the same tokens as ours. */
function authorizeBy({ access }: Plane): Authorize {
  return ({ token, peerAddress }, role) => {
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const caller = access.authenticate({ authorization, from: peerAddress });
    if (isAtLeast(caller.role, role)) return caller;
    throw new Fault('denied', `This needs the role ${role}; this token has ${caller.role}.`);
  };
}

/** Admits agents, and serves Velda's command line. */
export function openBroker(context: ServerContext, plane: Plane, open: Pick<Plane, 'machines' | 'sessions'>): Broker {
  const { store, link, clock, log, version, loaded, redactor } = context;
  return startBroker({
    ...open,
    files: plane.files,
    link,
    view: store.view,
    durable: () => store.durable(),
    authorize: authorizeBy(plane),
    knows: plane.access.knows,
    launchFault(pool) {
      const fault = plane.workers.launchFault(pool);
      // The error message of a cloud may quote a secret that it received.
      return fault && { ...fault, message: redactor.text(fault.message) };
    },
    clock,
    log,
    version,
    cluster: store.cluster,
    holderEpoch: store.epoch,
    agentLeaseMs: loaded.config.agent.leaseMs,
    clientAddress: context.connections.addressOf,
    proved: context.connections.authenticated,
    streamsPerConnection: loaded.config.limits.streamsPerConnection,
  });
}

interface Readiness {
  whyNot: string | undefined;
}

function openApi(
  context: ServerContext,
  plane: Plane,
  { names, ready, sessions }: { names: readonly string[]; ready: Readiness; sessions: Plane['sessions'] },
): Promise<Api> {
  const { http, grpc, installer, kinds, redactor, startedAt, storeKind, version, connections, loaded, dataDir } =
    context;
  return startApi({
    ...context,
    ...plane,
    sessions,
    random: systemRandom,
    agentFiles: installer,
    webFiles: openWebFiles(dataDir, version),
    server: {
      version,
      pid: process.pid,
      storeKind,
      machineId: machineId(),
      startedAt,
      addresses: () => ({ http, grpc }),
      hosts: () => names,
      whyNotReady: () => ready.whyNot,
    },
    redactConfig: redactBackendConfig(kinds),
    hasPrices: (kind) => kinds.backends[kind]?.hasPrices === true || kinds.backends[kind]?.isLocal === true,
    features: plane.features.public,
    documents: poolDocuments(kinds),
    redactText: redactor.text,
    connections,
    requestsPerToken: loaded.config.limits.requestsPerToken,
  });
}

/** The handlers of accepted connections: with TLS beyond loopback, whose certificates `stop` no longer renews. */
function openServe(
  context: ServerContext,
  plane: Plane,
  { api, broker, names }: Opened,
): { serve: Serve; stop(): void } {
  const { front, loaded, connections, log } = context;
  const { http, grpc } = front.addresses;
  const plainHttp = (socket: Accepted): void => {
    connections.established(connectionKey(socket));
    api.server.emit('connection', socket);
  };
  const refused = (why: string, from: string | undefined): void => log('debug', 'TLS handshake failed', { from, why });
  let secureHttp: TlsListener | undefined;
  const plainGrpc = broker.listener();
  let secureGrpc = plainGrpc;
  const stop =
    needsTls(http) || needsTls(grpc)
      ? renewCertificates(context, plane, {
          names,
          show({ certificate, key }) {
            if (secureHttp) secureHttp.renew({ certificate, key });
            else secureHttp = openTlsListener({ certificate, key }, plainHttp, refused);
            secureGrpc = broker.listener({ certificate, key, clientCa: plane.access.ca.certificate });
          },
        })
      : () => {};
  const anyGrpc = (socket: Accepted): void => tellTls(socket, (begun) => secureGrpc(begun), plainGrpc);
  const onlySecureGrpc = (socket: Accepted): void => secureGrpc(socket);
  return {
    stop,
    serve: {
      http: needsTls(http) ? (socket) => secureHttp?.accept(socket) : plainHttp,
      grpc: !needsTls(grpc) ? plainGrpc : loaded.config.tls.plaintextGrpc ? anyGrpc : onlySecureGrpc,
    },
  };
}

type Accepted = Parameters<Serve['http']>[0];

interface Opened {
  readonly api: Api;
  readonly broker: Broker;
  readonly names: readonly string[];
}

/** Opens broker and API, and accepts connections. */
export async function openListeners(context: ServerContext, plane: Plane): Promise<{ close(): Promise<void> }> {
  const { front, loaded } = context;
  const names = serverNames(loaded.config, Object.values(front.addresses));
  const open = loaded.config.allowNewPool ? withNewPools(plane) : plane;
  const ready: Readiness = { whyNot: undefined };
  const broker = openBroker(context, plane, { machines: open.machines, sessions: open.sessions });
  const api = await openApi(context, plane, { names, ready, sessions: open.sessions });
  const { serve, stop } = openServe(context, plane, { api, broker, names });
  front.serve(serve);
  return {
    async close() {
      ready.whyNot = 'The server is stopping.';
      stop();
      await broker.stop();
      await api.close();
    },
  };
}
