import { refusal } from '#fakes/refusal.ts';
import type { AwsCall } from './wire/read-call.ts';
import type { Principal } from './world.ts';

/** Who may do what. Everybody may do everything, until a test says otherwise. */
export interface Principals {
  /** Whose key this is; an unknown key is that of the account's owner. */
  of(accessKey: string): Principal;
  name(accessKey: string, arn: string): void;
  /** `ec2:RunInstances`, `ssm:*`, `kms:Decrypt`; without a key, for everybody. */
  deny(right: string, accessKey?: string): void;
  allow(right: string, accessKey?: string): void;
  /** The key is not known any more. */
  revoke(accessKey: string): void;
  isRevoked(accessKey: string): boolean;
}

const EVERYBODY = '*';

export function openPrincipals(account: string): Principals {
  const arns = new Map<string, string>();
  const denied = new Map<string, Set<string>>();
  const revoked = new Set<string>();
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
    name: (accessKey, arn) => void arns.set(accessKey, arn),
    deny: (right, accessKey = EVERYBODY) => void deniedTo(accessKey).add(right),
    allow: (right, accessKey = EVERYBODY) => void deniedTo(accessKey).delete(right),
    revoke: (accessKey) => void revoked.add(accessKey),
    isRevoked: (accessKey) => revoked.has(accessKey),
  };
}

const MISSING = {
  ec2: () => refusal('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  sts: () => refusal('MissingAuthenticationToken', 'Request is missing Authentication Token', 403),
  ssm: () => refusal('MissingAuthenticationTokenException', 'Missing Authentication Token'),
  eks: () => refusal('MissingAuthenticationTokenException', 'Missing Authentication Token', 403),
};

const UNKNOWN = {
  ec2: () => refusal('AuthFailure', 'AWS was not able to validate the provided access credentials', 401),
  sts: () => refusal('InvalidClientTokenId', 'The security token included in the request is invalid.', 403),
  ssm: () => refusal('UnrecognizedClientException', 'The security token included in the request is invalid.'),
  eks: () => refusal('UnrecognizedClientException', 'The security token included in the request is invalid.', 403),
};

/** Admits the caller, or refuses in the words of the service. */
export function admit(principals: Principals, call: AwsCall): Principal {
  if (call.accessKey === undefined) throw MISSING[call.service]();
  if (principals.isRevoked(call.accessKey)) throw UNKNOWN[call.service]();
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
  const name = String(body.Path ?? body.Name ?? '').replace(/^\//, '');
  throw refusal(
    'AccessDeniedException',
    `User: ${principal.arn} is not authorized to perform: ${right} on resource: arn:aws:ssm:${region}:${account}:parameter/${name} ${because}`,
  );
}
