// Who gets an access token, by each of the ways that application default credentials know.
import { createPublicKey, verify } from 'node:crypto';
import { SECOND_MS } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { GcpCall } from './read-call.ts';
import { TOKEN_SECONDS } from './tokens.ts';
import type { World } from './world.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const LONGEST_SECONDS = 3_600;
const SKEW_SECONDS = 300;

const badGrant = (why: string) => refusal('invalid_grant', why, 400);

interface Claims {
  readonly iss?: string;
  readonly aud?: string;
  readonly scope?: string;
  readonly iat?: number;
  readonly exp?: number;
}

const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

function serviceAccountOf(assertion: string, { accountKeys, clock }: World): string {
  const [head = '', body = '', signature = ''] = assertion.split('.');
  const { alg } = decoded(head) as { readonly alg?: string };
  const { iss = '', aud, scope, iat = 0, exp = 0 } = decoded(body) as Claims;
  const pem = accountKeys.get(iss);
  if (!pem) throw badGrant('Invalid grant: account not found');
  const signed = Buffer.from(`${head}.${body}`);
  const isRight = verify('RSA-SHA256', signed, createPublicKey(pem), Buffer.from(signature, 'base64url'));
  if (alg !== 'RS256' || !isRight) throw badGrant('Invalid JWT Signature.');
  const nowSeconds = clock.now() / SECOND_MS;
  if (Math.abs(nowSeconds - iat) > SKEW_SECONDS || exp - iat > LONGEST_SECONDS || exp < nowSeconds)
    throw badGrant('Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.');
  if (aud !== 'https://oauth2.googleapis.com/token') throw badGrant('Invalid JWT: Failed audience check.');
  if (!scope?.includes('cloud-platform')) throw refusal('invalid_scope', 'Invalid OAuth scope or ID token audience.');
  return iss;
}

function oauthToken({ body }: GcpCall, world: World): string {
  if (body.grant_type === JWT_BEARER) return serviceAccountOf(String(body.assertion), world);
  if (body.grant_type !== 'refresh_token') throw refusal('unsupported_grant_type', 'Invalid grant_type.');
  const who = world.refreshTokens.get(String(body.refresh_token));
  if (!who) throw badGrant('Token has been expired or revoked.');
  return who;
}

interface SignedRequest {
  readonly headers?: readonly { readonly key: string; readonly value: string }[];
}

/** The key of AWS that signed a request for the audience; that it is right only AWS can tell. */
function awsKeyOf(token: string, audience: string): string {
  const { headers = [] } = JSON.parse(decodeURIComponent(token)) as SignedRequest;
  const header = (name: string) => headers.find(({ key }) => key.toLowerCase() === name)?.value ?? '';
  if (header('x-goog-cloud-target-resource') !== audience) throw badGrant('The audience is not signed.');
  return /Credential=([^/]+)\//.exec(header('authorization'))?.[1] ?? '';
}

function exchanged({ body }: GcpCall, { subjectTokens }: World): string {
  const isAws = body.subject_token_type === 'urn:ietf:params:aws:token-type:aws4_request';
  const token = String(body.subject_token);
  const who = subjectTokens.get(isAws ? awsKeyOf(token, String(body.audience)) : token);
  if (!who || !String(body.audience).startsWith('//iam.googleapis.com/'))
    throw badGrant('The given credential is rejected by the attribute condition.');
  return who;
}

/** The answer of a token endpoint. */
export function grant(call: GcpCall, world: World): object {
  if (call.service === 'metadata' && call.headers.get('metadata-flavor') !== 'Google')
    throw refusal('forbidden', 'Missing required header "Metadata-Flavor": "Google"', 403);
  if (call.service === 'metadata' && world.machineAccount === undefined)
    throw refusal('notFound', 'service account not found', 404);
  const who =
    call.service === 'oauth2'
      ? oauthToken(call, world)
      : call.service === 'sts'
        ? exchanged(call, world)
        : String(world.machineAccount);
  return { access_token: world.granted.give(who), expires_in: TOKEN_SECONDS, token_type: 'Bearer' };
}

/** A token of another service account. */
export function impersonate(call: GcpCall, who: string, world: World): object {
  const whom = decodeURIComponent(/serviceAccounts\/([^/]+):/.exec(call.path)?.[1] ?? '');
  const mayAct = world.mayActAs.get(who)?.has(whom);
  if (!mayAct)
    throw refusal('PERMISSION_DENIED', `Permission 'iam.serviceAccounts.getAccessToken' denied on resource.`, 403);
  const expireTime = new Date(world.clock.now() + TOKEN_SECONDS * SECOND_MS).toISOString();
  return { accessToken: world.granted.give(whom), expireTime };
}
