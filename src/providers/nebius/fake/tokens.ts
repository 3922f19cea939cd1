// Tokens of service accounts: a JWT that its key signed is exchanged for one.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '#core/clock.ts';
import type { CreateTokenResponseSchema, ExchangeTokenRequest } from '../gen/nebius_pb.ts';
import { refused } from './refusals.ts';
import { TOKENS } from './seed-data.ts';

/** A public key that was uploaded for a service account. */
export interface AuthKey {
  readonly account: string;
  readonly key: KeyObject;
}

const LIFE_SECONDS = 43_200;

const parsed = (part: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;

/** The account that a JWT speaks for; refuses one that is not signed, has expired or is unknown. */
function accountOf(jwt: string, keys: ReadonlyMap<string, AuthKey>, nowMs: number): string {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const { alg, kid } = parsed(head);
  const { iss, sub, exp } = parsed(claims);
  const known = keys.get(String(kid));
  const isRight =
    known !== undefined &&
    alg === 'RS256' &&
    verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), known.key, Buffer.from(signature, 'base64url'));
  if (!isRight || iss !== known.account || sub !== iss) throw refused('Unauthenticated', 'The JWT is not valid.');
  if (Number(exp) * 1_000 < nowMs) throw refused('Unauthenticated', 'The JWT has expired.');
  return known.account;
}

export interface FakeTokens {
  /** By the id of the key. */
  readonly keys: Map<string, AuthKey>;
  /** Tokens that are valid for ever. */
  readonly known: Set<string>;
  /** Tokens that are refused from now on. */
  readonly revoked: Set<string>;
  addKey(id: string, account: string, pem: string): void;
  exchange(request: ExchangeTokenRequest): MessageInitShape<typeof CreateTokenResponseSchema>;
  check(token: string): void;
}

export function openFakeTokens(clock: Clock): FakeTokens {
  const keys = new Map<string, AuthKey>();
  const granted = new Map<string, number>();
  const known = new Set(TOKENS);
  const revoked = new Set<string>();
  return {
    keys,
    known,
    revoked,
    addKey: (id, account, pem) => void keys.set(id, { account, key: createPublicKey(pem) }),
    exchange({ grantType, subjectToken, subjectTokenType }) {
      if (!grantType.endsWith(':token-exchange') || !subjectTokenType.endsWith(':jwt'))
        throw refused('BadRequest', 'grant_type: is not supported');
      const account = accountOf(subjectToken, keys, clock.now());
      const accessToken = `token-of-${account}-${granted.size + 1}`;
      granted.set(accessToken, clock.now() + LIFE_SECONDS * 1_000);
      return { accessToken, tokenType: 'Bearer', expiresIn: BigInt(LIFE_SECONDS) };
    },
    check(token) {
      const isValid = known.has(token) || (granted.get(token) ?? 0) >= clock.now();
      if (!isValid || revoked.has(token)) throw refused('Unauthenticated', 'The IAM token is not valid.');
    },
  };
}
