import type { JoinProof } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { isWithin } from './networks.ts';
import type { Tokens } from './tokens.ts';

/** A client that claims to be the agent of this name, and its proof. */
export interface JoinRequest {
  readonly pool: Pool;
  readonly name: string;
  readonly proof: JoinProof;
  /** What the cloud lists as the addresses of the machine of that name; absent: no such machine, or none yet. */
  readonly addresses?: readonly string[] | undefined;
}

/** The agent is admitted; with `launch`, only under one of that launch's names. */
export interface Admission {
  readonly launch?: string | undefined;
}

export interface AdmitDeps {
  readonly tokens: Tokens;
  verifyLaunchToken(token: string): string | undefined;
  isPool(name: string): boolean;
  /** Called for each agent that was admitted by its address alone. */
  admittedByNetwork(request: JoinRequest): void;
}

function byToken({ pool, proof }: JoinRequest, deps: AdmitDeps): Admission {
  if (!proof.token) {
    const remedy = 'Give the agent a join token: `muster token create --join POOL`.';
    throw new Fault('unauthenticated', `Pool ${pool.name} requires agents to have a token.`, { remedy });
  }
  const launch = deps.verifyLaunchToken(proof.token);
  if (launch !== undefined) return { launch };
  const use = deps.tokens.find(proof.token)?.use;
  if (use && 'join' in use && use.join === pool.id) return {};
  throw new Fault(
    'denied',
    `The token is not valid for pool ${pool.name}: it is forged, expired, revoked or of another pool.`,
    { remedy: 'Give the agent a token of this pool: `muster token create --join POOL`.' },
  );
}

function byCertificate({ pool, name, proof }: JoinRequest, deps: AdmitDeps): Admission {
  const shown = proof.certificateName;
  if (shown === undefined) {
    const remedy = 'Give the agent a client certificate of this cluster.';
    throw new Fault('unauthenticated', `Pool ${pool.name} requires agents to have a certificate.`, { remedy });
  }
  // All agents of a pool have its certificate: an agent named like that pool must not use it to join another pool.
  if (shown === pool.name || (shown === name && !deps.isPool(shown))) return {};
  throw new Fault('denied', `The certificate for ${shown} is not valid for agent ${name} of pool ${pool.name}.`);
}

function byNetwork(request: JoinRequest, deps: AdmitDeps): Admission {
  const { pool, proof } = request;
  if (!isWithin(proof.peerAddress, pool.spec.agentNetworks)) {
    const remedy = 'Add its network to `agent_networks` of the pool.';
    throw new Fault('denied', `Pool ${pool.name} admits no agents from ${proof.peerAddress}.`, { remedy });
  }
  deps.admittedByNetwork(request);
  return {};
}

/** An image that we did not make carries no token: what proves its agent is the address that the cloud gave its machine. */
export function byMachine({ pool, name, proof, addresses = [] }: JoinRequest): Admission {
  if (addresses.length === 0) {
    throw new Fault('unavailable', `The cloud has not listed an address of ${name} yet.`, {
      remedy: 'The agent tries again. If that goes on, set `agent_auth: token` for its pool.',
    });
  }
  if (isWithin(proof.peerAddress, addresses)) return {};
  throw new Fault(
    'denied',
    `Pool ${pool.name} admits ${name} only from ${addresses.join(', ')}; this connection comes from ${proof.peerAddress}.`,
    { remedy: 'Connect without a proxy or address translation between agent and broker, or use `agent_auth: token`.' },
  );
}

/** Admits an agent by the pool's `agent_auth`, or throws a `Fault`. */
export function admitAgent(request: JoinRequest, deps: AdmitDeps): Admission {
  switch (request.pool.spec.agentAuth) {
    case 'token':
      return byToken(request, deps);
    case 'mtls':
      return byCertificate(request, deps);
    case 'machine':
      return byMachine(request);
    case 'network':
      return byNetwork(request, deps);
  }
}
