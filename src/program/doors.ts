import { isAtLeast } from '#access/tokens.ts';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { type Api, startApi } from '../api/app.ts';
import type { Authorize } from '../broker/authorize.ts';
import { type Broker, startBroker } from '../broker/broker.ts';
import type { Serve } from '../edge/front.ts';
import { needsTls, serverNames } from './addresses.ts';
import type { Ground } from './holding.ts';
import { identityOf } from './identity.ts';
import { poolDocuments, redactBackendConfig } from './kinds.ts';
import { withNewPools } from './new-pools.ts';
import type { Plane } from './plane.ts';

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
export function openBroker(ground: Ground, plane: Plane, open: Pick<Plane, 'machines' | 'sessions'>): Broker {
  const { store, link, clock, log, version, loaded, redactor } = ground;
  return startBroker({
    ...open,
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
  });
}

interface Readiness {
  whyNot: string | undefined;
}

function openApi(
  ground: Ground,
  plane: Plane,
  { names, ready, sessions }: { names: readonly string[]; ready: Readiness; sessions: Plane['sessions'] },
): Promise<Api> {
  const { http, grpc, installer, kinds, redactor, startedAt, storeKind, version } = ground;
  return startApi({
    ...ground,
    ...plane,
    sessions,
    random: systemRandom,
    agentFiles: installer,
    server: {
      version,
      pid: process.pid,
      storeKind,
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
  });
}

/** Keeps the certificates of both ports current: our own is renewed long before it expires. */
export function keepLocks(
  ground: Ground,
  { access }: Plane,
  { names, serve }: { names: readonly string[]; serve: Serve },
): () => void {
  const { front, loaded, clock, log } = ground;
  const { http, grpc } = front.addresses;
  let cancel = (): void => {};

  function lock(): void {
    const identity = identityOf(loaded.config, access, { names, clock });
    const shown = { certificate: identity.certificate, key: identity.key };
    const isOptional = loaded.config.tls.plaintextGrpc;
    front.serve(serve, {
      ...(needsTls(http) ? { http: shown } : {}),
      ...(needsTls(grpc) ? { grpc: { ...shown, clientCa: access.ca.certificate, isOptional } } : {}),
    });
    cancel = clock.alarm(Math.max(HOUR_MS, (identity.untilMs - clock.now()) / 2), renew);
  }

  /** A file that is being replaced, or an expired certificate, must not stop the server: it retries. */
  function renew(): void {
    try {
      lock();
    } catch (thrown) {
      log('error', 'certificate not renewed, keeping the previous one', { error: Fault.from(thrown).message });
      cancel = clock.alarm(MINUTE_MS, renew);
    }
  }

  lock();
  return () => cancel();
}

/** Opens broker and API, and accepts connections. */
export async function openDoors(ground: Ground, plane: Plane): Promise<{ close(): Promise<void> }> {
  const { front, loaded } = ground;
  const names = serverNames(loaded.config, Object.values(front.addresses));
  const open = loaded.config.allowNewPool ? withNewPools(plane) : plane;
  const ready: Readiness = { whyNot: undefined };
  const broker = openBroker(ground, plane, { machines: open.machines, sessions: open.sessions });
  const api = await openApi(ground, plane, { names, ready, sessions: open.sessions });
  const stopRenewing = keepLocks(ground, plane, {
    names,
    serve: { http: (socket) => void api.server.emit('connection', socket), grpc: broker.listener() },
  });
  return {
    async close() {
      ready.whyNot = 'The server is stopping.';
      stopRenewing();
      await broker.stop();
      await api.close();
    },
  };
}
