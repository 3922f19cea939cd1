import { isAtLeast } from '#access/tokens.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { type Api, startApi } from '../api/app.ts';
import type { Authorize } from '../broker/authorize.ts';
import { type Broker, startBroker } from '../broker/broker.ts';
import { needsTls, serverNames } from './addresses.ts';
import type { Ground } from './holding.ts';
import { identityOf } from './identity.ts';
import { redactBackendConfig } from './kinds.ts';
import { withNewPools } from './new-pools.ts';
import type { Plane } from './plane.ts';

/** The calls of Velda's command line carry the same tokens as ours. */
function authorizeBy({ access }: Plane): Authorize {
  return ({ token, peerAddress }, role) => {
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const caller = access.authenticate({ authorization, from: peerAddress });
    if (isAtLeast(caller.role, role)) return caller;
    throw new Fault('denied', `This needs the role ${role}, and the token has ${caller.role}.`);
  };
}

function openBroker(ground: Ground, plane: Plane, open: Pick<Plane, 'workers' | 'sessions'>): Broker {
  const { store, link, clock, log, version, loaded } = ground;
  return startBroker({
    ...open,
    link,
    view: store.view,
    durable: () => store.durable(),
    authorize: authorizeBy(plane),
    clock,
    log,
    version,
    cluster: store.cluster,
    leaseMs: loaded.config.agent.leaseMs,
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
    redactText: redactor.text,
  });
}

/** Opens broker and API, and lets connections in. */
export async function openDoors(ground: Ground, plane: Plane): Promise<{ close(): Promise<void> }> {
  const { front, loaded, clock, trust } = ground;
  const { http, grpc } = front.addresses;
  const names = serverNames(loaded.config, [http, grpc]);
  const identity = identityOf(loaded.config, plane.access, { names, clock });
  if (needsTls(grpc)) trust.ca = identity.ca;
  const open = loaded.config.allowNewPool ? withNewPools(plane) : plane;
  const ready: Readiness = { whyNot: undefined };
  const broker = openBroker(ground, plane, { workers: open.workers, sessions: open.sessions });
  const api = await openApi(ground, plane, { names, ready, sessions: open.sessions });
  const lock = { certificate: identity.certificate, key: identity.key };
  front.serve(
    { http: (socket) => void api.server.emit('connection', socket), grpc: (socket) => broker.accept(socket) },
    {
      ...(needsTls(http) ? { http: lock } : {}),
      ...(needsTls(grpc) ? { grpc: { ...lock, clientCa: plane.access.ca.certificate } } : {}),
    },
  );
  return {
    async close() {
      ready.whyNot = 'The server is stopping.';
      await broker.stop();
      await api.close();
    },
  };
}
