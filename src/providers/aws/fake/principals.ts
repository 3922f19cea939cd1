import { refusal } from '#fakes/refusal.ts';
import { ACCESS_KEYS, REGIONS } from './seed-data.ts';
import type { AwsCall } from './wire/read-call.ts';
import type { Principal } from './world.ts';

/** Who may do what. Everybody whose key is known may do everything, until a test says otherwise. */
export interface Principals {
  /** Whose key this is; without a name it is that of the account's owner. */
  of(accessKey: string): Principal;
  /** Names the owner of a key, which is known from then on. */
  name(accessKey: string, arn: string): void;
  /** `ec2:RunInstances`, `ssm:*`, `kms:Decrypt`; without a key, for everybody. */
  deny(right: string, accessKey?: string): void;
  allow(right: string, accessKey?: string): void;
  /** The key is not known any more. */
  revoke(accessKey: string): void;
  isKnown(accessKey: string): boolean;
}

const EVERYBODY = '*';

export function openPrincipals(account: string): Principals {
  const arns = new Map<string, string>();
  const denied = new Map<string, Set<string>>();
  const known = new Set(ACCESS_KEYS);
  const deniedTo = (key: string): Set<string> => {
    const rights = denied.get(key) ?? new Set<string>();
    denied.set(key, rights);
    return rights;
  };
  const isDenied = (key: string, right: string): boolean => {
    const wide = `${right.split(':')[0]}:*`;
    return [...deniedTo(key), ...deniedTo(EVERYBODY)].some((one) => one === right || one === wide);
  };
  return {
    of: (accessKey) => ({
      arn: arns.get(accessKey) ?? `arn:aws:iam::${account}:root`,
      id: accessKey.replace(/^A[SK]IA/, 'AIDA'),
      may: (right) => !isDenied(accessKey, right),
    }),
    name(accessKey, arn) {
      arns.set(accessKey, arn);
      known.add(accessKey);
    },
    deny: (right, accessKey = EVERYBODY) => void deniedTo(accessKey).add(right),
    allow: (right, accessKey = EVERYBODY) => void deniedTo(accessKey).delete(right),
    revoke: (accessKey) => void known.delete(accessKey),
    isKnown: (accessKey) => known.has(accessKey),
  };
}

const MISSING = {
  ec2: () => refusal('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  sts: () => refusal('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  ssm: () => refusal('MissingAuthenticationTokenException', 'Missing Authentication Token'),
  eks: () => refusal('MissingAuthenticationTokenException', 'Missing Authentication Token', 403),
  ecs: () => refusal('MissingAuthenticationTokenException', 'Missing Authentication Token'),
};

const UNKNOWN = {
  ec2: () => refusal('AuthFailure', 'AWS was not able to validate the provided access credentials', 401),
  sts: () => refusal('InvalidClientTokenId', 'The security token included in the request is invalid.', 403),
  ssm: () => refusal('UnrecognizedClientException', 'The security token included in the request is invalid.'),
  eks: () => refusal('UnrecognizedClientException', 'The security token included in the request is invalid.', 403),
  ecs: () => refusal('UnrecognizedClientException', 'The security token included in the request is invalid.'),
};

const scope = (region: string): string => `Credential should be scoped to a valid region, not '${region}'.`;
const WRONG_SCOPE = {
  ec2: (region: string) => refusal('AuthFailure', scope(region), 401),
  sts: (region: string) => refusal('SignatureDoesNotMatch', scope(region), 403),
  ssm: (region: string) => refusal('InvalidSignatureException', scope(region)),
  eks: (region: string) => refusal('InvalidSignatureException', scope(region), 403),
  ecs: (region: string) => refusal('InvalidSignatureException', scope(region)),
};

/** Admits the caller, or refuses in the words of the service. */
export function admit(principals: Principals, call: AwsCall): Principal {
  if (call.accessKey === undefined) throw MISSING[call.service]();
  if (!principals.isKnown(call.accessKey)) throw UNKNOWN[call.service]();
  if (!REGIONS.has(call.region)) throw WRONG_SCOPE[call.service](call.region);
  return principals.of(call.accessKey);
}

/** Denies an action to whom it is denied. AWS lets everybody ask who he is. */
export function checkRight(principal: Principal, call: AwsCall, account: string): void {
  const { service, action, region, body } = call;
  const right = `${service}:${action}`;
  if (principal.may(right) || action === 'GetCallerIdentity') return;
  const because = `because no identity-based policy allows the ${right} action`;
  if (service === 'ec2') {
    throw refusal(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. User: ${principal.arn} is not authorized to perform: ${right} on resource: arn:aws:ec2:${region}:${account}:* ${because}`,
      403,
    );
  }
  if (service === 'sts') {
    throw refusal('AccessDenied', `User: ${principal.arn} is not authorized to perform: ${right} ${because}`, 403);
  }
  if (service === 'eks') {
    const resource = `arn:aws:eks:${region}:${account}:cluster/${body.name ?? '*'}`;
    const message = `User: ${principal.arn} is not authorized to perform: ${right} on resource: ${resource}`;
    throw refusal('AccessDeniedException', message, 403);
  }
  if (service === 'ecs') {
    const resource = `arn:aws:ecs:${region}:${account}:${String(body.taskDefinition ?? body.cluster ?? '*')}`;
    const message = `User: ${principal.arn} is not authorized to perform: ${right} on resource: ${resource} ${because}`;
    throw refusal('AccessDeniedException', message);
  }
  const name = String(body.Path ?? body.Name ?? '').replace(/^\//, '');
  throw refusal(
    'AccessDeniedException',
    `User: ${principal.arn} is not authorized to perform: ${right} on resource: arn:aws:ssm:${region}:${account}:parameter/${name} ${because}`,
  );
}
