import type { JoinProof } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { isWithin } from './networks.ts';
import type { Tokens } from './tokens.ts';

/** Someone who says to be an agent of that name, and what it shows. */
export interface JoinRequest {
  readonly pool: Pool;
  readonly name: string;
  readonly proof: JoinProof;
}

/** Let in; with `launch`, only under one of that launch's names. */
export interface Admission {
  readonly launch?: string | undefined;
}

export interface DoorDeps {
  readonly tokens: Tokens;
  verifyLaunchToken(token: string): string | undefined;
  isPool(name: string): boolean;
  /** Called for each agent let in by its address alone. */
  admittedByNetwork(request: JoinRequest): void;
}

function byToken({ pool, proof }: JoinRequest, deps: DoorDeps): Admission {
  if (!proof.token) {
    const remedy = 'Give the agent a join token: `muster token create --join POOL`.';
    throw new Fault('unauthenticated', `Pool ${pool.name} lets in only agents with a token.`, { remedy });
  }
  const launch = deps.verifyLaunchToken(proof.token);
  if (launch !== undefined) return { launch };
  const use = deps.tokens.find(proof.token)?.use;
  if (use && 'join' in use && use.join === pool.id) return {};
  throw new Fault('denied', `This token does not open pool ${pool.name}: forged, expired, revoked or of another pool.`);
}

function byCertificate({ pool, name, proof }: JoinRequest, deps: DoorDeps): Admission {
  const shown = proof.certificateName;
  if (shown === undefined) {
    const remedy = 'Give the agent a client certificate of this cluster.';
    throw new Fault('unauthenticated', `Pool ${pool.name} lets in only agents with a certificate.`, { remedy });
  }
  // The certificate of a pool is in many hands: under its name nobody gets into another one.
  if (shown === pool.name || (shown === name && !deps.isPool(shown))) return {};
  throw new Fault('denied', `A certificate for ${shown} does not open pool ${pool.name} for agent ${name}.`);
}

function byNetwork(request: JoinRequest, deps: DoorDeps): Admission {
  const { pool, proof } = request;
  if (!isWithin(proof.peerAddress, pool.spec.agentNetworks)) {
    const remedy = 'Add its network to `agent_networks` of the pool.';
    throw new Fault('denied', `Pool ${pool.name} lets in no agents from ${proof.peerAddress}.`, { remedy });
  }
  deps.admittedByNetwork(request);
  return {};
}

/** Decides by the pool's `agent_auth` whether an agent may come in, or throws a `Fault`. */
export function admit(request: JoinRequest, deps: DoorDeps): Admission {
  switch (request.pool.spec.agentAuth) {
    case 'token':
      return byToken(request, deps);
    case 'mtls':
      return byCertificate(request, deps);
    case 'network':
      return byNetwork(request, deps);
  }
}
