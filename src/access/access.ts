import type { Role, Token } from '#core/access.ts';
import type { JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { idMaker } from '#core/id.ts';
import { type Actor, SELF } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { ensureAdminToken } from './admin-token.ts';
import { type Admission, admitAgent, type JoinRequest } from './admit-agent.ts';
import { countFailedAttempts } from './failed-attempts.ts';
import { launchToken, verifyLaunchToken } from './launch-token.ts';
import { type LoginLink, openLogins } from './login.ts';
import { isWithin } from './networks.ts';
import { openSecrets } from './secrets.ts';
import { fingerprintOf, issueClient, issueServerIdentity, type KeyPair, type ServerIdentity } from './tls.ts';
import { openTokenWatch, type WatchToken } from './token-watch.ts';
import { type IssuedToken, isAtLeast, type NewToken, openTokens, type TokensDeps } from './tokens.ts';

/** The caller of a request, and its role. */
export interface Caller extends Actor {
  readonly role: Role;
  /** The id of the token that authenticated it. */
  readonly token: string;
  /** Browsers send cookies by themselves, so a request with one must also prove its origin. */
  readonly by: 'header' | 'cookie';
}

/** The credentials of a request, and where it came from. */
export interface Credentials {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
  readonly from: string;
}

/** Tokens, roles, admission of agents, and certificates. */
export interface Access {
  /** Always the same for the same launch; never stored. */
  launchToken(launch: string): string;
  verifyLaunchToken(token: string): string | undefined;
  /** Whether a credential of this cluster, or a network that a pool admits, speaks for an agent that has not named its pool. */
  knows(proof: JoinProof): boolean;
  /** Admits an agent by its pool's `agent_auth`, or throws a `Fault`. */
  admit(request: JoinRequest): Admission;
  /** Throws `unauthenticated` if the credentials are missing or invalid. */
  authenticate(credentials: Credentials): Caller;
  /** Whether the caller's token is still valid, with the same role. */
  stillHolds(caller: Caller): boolean;
  /** Whatever outlives a short answer (a stream, a terminal, a copy) is to be ended by this. */
  readonly watchToken: WatchToken;
  createToken(wanted: NewToken, actor: Actor): Promise<IssuedToken>;
  revokeToken(id: string, actor: Actor): Promise<Token>;
  /** A code that logs one browser in, once, within five minutes, with at most the caller's role. */
  createLoginLink(role: Role, caller: Caller): LoginLink;
  exchangeLogin(code: string, from: string): Promise<IssuedToken>;
  /** The certificate authority of this cluster: agents trust it, and it signs their certificates. */
  readonly ca: { readonly certificate: string; readonly fingerprint: string };
  issueServerIdentity(addresses: readonly string[]): ServerIdentity;
  issueAgentCertificate(name: string): KeyPair;
}

export interface AccessDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly event: TokensDeps['event'];
  /** Directory for the file with the admin token; without it no such file is written. */
  readonly dataDir?: string | undefined;
}

/** How often a call of the broker looks at its token again. */
export const CHECK_TOKEN_EVERY_MS = 5_000;
export const SESSION_COOKIE = 'muster_session';

function shownToken({ authorization, cookie }: Credentials): { text: string; by: Caller['by'] } | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return { text: bearer, by: 'header' };
  if (authorization !== undefined) return undefined;
  for (const pair of cookie?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === SESSION_COOKIE && value) return { text: value, by: 'cookie' };
  }
  return undefined;
}

/** A browser has the identity of the token that created its login link. */
const whoOf = ({ name, parent, createdBy }: Token): string =>
  parent === undefined ? `token:${name}` : `${createdBy} (${name})`;

/** Opens access on this store; at the first start it makes the cluster's secrets and an admin token. */
export async function openAccess(deps: AccessDeps): Promise<Access> {
  const { store, clock, random, log } = deps;
  const secrets = await openSecrets(store, clock, random);
  const tokens = openTokens({ ...deps, newId: idMaker(() => clock.now(), random) });
  const logins = openLogins(tokens, clock, random);
  if (deps.dataDir !== undefined) await ensureAdminToken(deps.dataDir, tokens, store);
  const verify = (token: string): string | undefined => verifyLaunchToken(secrets.launchRoot, token);
  const isPool = (name: string): boolean => store.view.pools.count('name', name) > 0;
  function isFromOpenNetwork(address: string): boolean {
    for (const { spec } of store.view.pools.all())
      if (spec.agentAuth === 'network' && isWithin(address, spec.agentNetworks)) return true;
    return false;
  }
  const attempts = countFailedAttempts(clock);
  const warned = new Set<string>();

  /** Warns once for each pool and start: the warning is about the setting, not about each agent. */
  function admittedByNetwork({ pool, name, proof }: JoinRequest): void {
    if (warned.has(pool.id)) return;
    warned.add(pool.id);
    log('warn', 'agent admitted without a token, by its network', {
      pool: pool.name,
      agent: name,
      from: proof.peerAddress,
    });
    const message = `Pool ${pool.name} admits agents from ${pool.spec.agentNetworks.join(', ')} without a token; the first was ${name} from ${proof.peerAddress}.`;
    const event = deps.event({ kind: 'pool.open', subject: `pool/${pool.name}`, pool: pool.id, message }, SELF);
    store.commit([event]).catch(() => {}); // A store that fails ends the process by itself.
  }

  return {
    launchToken: (launch) => launchToken(secrets.launchRoot, launch),
    verifyLaunchToken: verify,
    admit(request) {
      try {
        return admitAgent(request, { tokens, verifyLaunchToken: verify, isPool, admittedByNetwork });
      } catch (thrown) {
        const fault = Fault.from(thrown);
        const { token, peerAddress } = request.proof;
        const isGuess = token !== undefined && fault.kind === 'denied' && request.pool.spec.agentAuth === 'token';
        throw isGuess ? attempts.refuse(peerAddress, fault) : fault;
      }
    },
    knows: ({ token, certificateName, peerAddress }) =>
      certificateName !== undefined ||
      (token !== undefined && (verify(token) !== undefined || tokens.find(token) !== undefined)) ||
      isFromOpenNetwork(peerAddress),
    authenticate(credentials) {
      const shown = shownToken(credentials);
      if (!shown) {
        const remedy =
          'Send the header `Authorization: Bearer TOKEN`; the first token is in admin.token of the data directory. In a browser, open the link that `muster login` prints.';
        const fault = new Fault('unauthenticated', 'The request has no token.', { remedy });
        const { authorization, cookie, from } = credentials;
        // Requests without credentials do not count as failed attempts.
        throw authorization === undefined && cookie === undefined ? fault : attempts.refuse(from, fault);
      }
      const token = tokens.find(shown.text);
      if (!token || !('role' in token.use)) {
        const fault = new Fault('unauthenticated', 'This token is unknown, expired or revoked.');
        return attempts.refuse(credentials.from, fault);
      }
      return {
        who: whoOf(token),
        from: credentials.from,
        role: token.use.role,
        token: token.id,
        by: shown.by,
      };
    },
    stillHolds(caller) {
      const token = tokens.get(caller.token);
      return token !== undefined && 'role' in token.use && token.use.role === caller.role;
    },
    watchToken: openTokenWatch(deps, tokens),
    createToken: tokens.create,
    revokeToken: tokens.revoke,
    createLoginLink(role, caller) {
      if (!isAtLeast(caller.role, role)) {
        throw new Fault('denied', `The role ${caller.role} may not create a login link for the role ${role}.`);
      }
      return logins.createLink(role, caller);
    },
    exchangeLogin: (code, from) =>
      logins.exchange(code, from).catch((thrown) => attempts.refuse(from, Fault.from(thrown))),
    ca: {
      certificate: secrets.authority.certificate,
      fingerprint: fingerprintOf(secrets.authority.certificate),
    },
    issueServerIdentity: (addresses) => issueServerIdentity(secrets.authority, addresses, { clock, random }),
    issueAgentCertificate: (name) => issueClient(secrets.authority, name, { clock, random }),
  };
}
