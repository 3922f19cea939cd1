import { kindOfStatus, messagesOf, plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

interface Rule {
  readonly kind: FaultKind;
  readonly remedy?: string;
}

const CAPACITY: Rule = { kind: 'exhausted', remedy: 'Wait, or offer another type, zone or market.' };
const THROTTLED: Rule = { kind: 'throttled', remedy: 'Wait; other programs of the account share its request limits.' };
const DOWN: Rule = { kind: 'unavailable' };
const CREDENTIALS: Rule = {
  kind: 'unauthenticated',
  remedy: 'Renew the credentials of the server: role, profile or AWS_ACCESS_KEY_ID.',
};
const CLOCK: Rule = {
  kind: 'unauthenticated',
  remedy: 'Correct the clock of the server: AWS accepts signatures for 5 minutes.',
};
const DENIED: Rule = { kind: 'denied' };

// Codes of EC2, SSM, STS and KMS, by what is to be done about them.
const RULES: Readonly<Record<string, Rule>> = {
  InsufficientInstanceCapacity: CAPACITY,
  InsufficientHostCapacity: CAPACITY,
  InsufficientReservedInstanceCapacity: CAPACITY,
  InsufficientCapacity: CAPACITY,
  UnfulfillableCapacity: CAPACITY,
  ReservationCapacityExceeded: CAPACITY,
  MaxFleetCountExceeded: CAPACITY,
  Unsupported: { kind: 'exhausted', remedy: 'Choose a zone or subnet that offers this type, or another type.' },
  InsufficientFreeAddressesInSubnet: { kind: 'exhausted', remedy: 'Use a larger subnet, or another one.' },
  SpotMaxPriceTooLow: { kind: 'exhausted', remedy: 'Raise spot_max_price, or leave it out.' },
  VcpuLimitExceeded: {
    kind: 'quota',
    remedy: 'Raise the vCPU quota of this family in Service Quotas, or lower max_agents.',
  },
  InstanceLimitExceeded: { kind: 'quota', remedy: 'Raise the instance quota in Service Quotas, or lower max_agents.' },
  MaxSpotInstanceCountExceeded: {
    kind: 'quota',
    remedy: 'Raise the spot quota in Service Quotas, or lower max_agents.',
  },
  VolumeLimitExceeded: { kind: 'quota', remedy: 'Raise the EBS quota in Service Quotas.' },
  AddressLimitExceeded: { kind: 'quota', remedy: 'Raise the address quota in Service Quotas.' },
  NetworkInterfaceLimitExceeded: { kind: 'quota', remedy: 'Raise the network interface quota in Service Quotas.' },
  ParameterLimitExceeded: { kind: 'quota' },
  LimitExceededException: { kind: 'quota' },
  RequestLimitExceeded: THROTTLED,
  RequestThrottled: THROTTLED,
  Throttling: THROTTLED,
  ThrottlingException: THROTTLED,
  ThrottledException: THROTTLED,
  TooManyRequestsException: THROTTLED,
  SlowDown: THROTTLED,
  'InvalidInstanceID.NotFound': { kind: 'missing', remedy: 'The instance is gone, or AWS does not list it yet.' },
  'InvalidInstanceID.Malformed': { kind: 'invalid' },
  'InvalidLaunchTemplateName.NotFoundException': {
    kind: 'missing',
    remedy: 'Create the launch template in this region, or correct launch_template_name.',
  },
  'InvalidLaunchTemplateId.NotFound': {
    kind: 'missing',
    remedy: 'Create the launch template in this region, or correct launch_template_id.',
  },
  'InvalidLaunchTemplateId.VersionNotFound': { kind: 'missing', remedy: 'Correct launch_template_version.' },
  'InvalidLaunchTemplateVersion.NotFound': { kind: 'missing', remedy: 'Correct launch_template_version.' },
  'InvalidAMIID.NotFound': {
    kind: 'missing',
    remedy: 'Correct ami_id: images belong to one region and may be deleted.',
  },
  'InvalidAMIID.Unavailable': { kind: 'missing', remedy: 'Wait until the image is available, or use another.' },
  'InvalidAMIID.Malformed': { kind: 'invalid', remedy: 'Correct ami_id.' },
  'InvalidSubnetID.NotFound': { kind: 'missing', remedy: 'Correct subnet_id: subnets belong to one region.' },
  'InvalidSecurityGroupID.NotFound': { kind: 'missing', remedy: 'Correct security_group_ids.' },
  'InvalidGroup.NotFound': { kind: 'missing', remedy: 'Correct security_group_ids or security_groups.' },
  'InvalidKeyPair.NotFound': { kind: 'missing', remedy: 'Correct key_name.' },
  ParameterNotFound: { kind: 'missing' },
  UnauthorizedOperation: DENIED,
  AccessDenied: DENIED,
  AccessDeniedException: DENIED,
  OptInRequired: { kind: 'denied', remedy: 'Enable the service or accept the terms of the image for this account.' },
  'AuthFailure.ServiceLinkedRoleCreationNotPermitted': {
    kind: 'denied',
    remedy:
      'Create the role AWSServiceRoleForEC2Spot once: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com.',
  },
  AuthFailure: CREDENTIALS,
  ExpiredToken: CREDENTIALS,
  ExpiredTokenException: CREDENTIALS,
  RequestExpired: CLOCK,
  RequestTimeTooSkewed: CLOCK,
  InvalidClientTokenId: CREDENTIALS,
  UnrecognizedClientException: CREDENTIALS,
  InvalidSignatureException: CREDENTIALS,
  SignatureDoesNotMatch: CREDENTIALS,
  CredentialsProviderError: CREDENTIALS,
  PendingVerification: { kind: 'denied', remedy: 'AWS is still verifying the account for this region.' },
  IdempotentParameterMismatch: { kind: 'conflict' },
  IncorrectInstanceState: { kind: 'conflict' },
  IncorrectState: { kind: 'conflict' },
  OperationNotPermitted: {
    kind: 'denied',
    remedy: 'Remove the termination protection of the instance, or terminate it by hand.',
  },
  UnsupportedOperation: { kind: 'unsupported' },
  InternalError: DOWN,
  InternalFailure: DOWN,
  InternalServerError: DOWN,
  ServiceUnavailable: DOWN,
  Unavailable: DOWN,
};

/** An error as the SDK throws it. */
interface Thrown {
  readonly name?: string;
  readonly message?: string;
  readonly Code?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** AWS's word for an error: EC2's `Code`, else the name of the exception. */
export function codeOf(thrown: unknown): string {
  const { Code, name, code } = (thrown ?? {}) as Thrown;
  return Code ?? (name && name !== 'Error' ? name : code) ?? '';
}

/** What the kind is where the code is new to us: AWS has hundreds, and their forms say enough. */
function guess(code: string, status: number | undefined): Rule {
  if (/NotFound(Exception)?$/.test(code)) return { kind: 'missing' };
  if (/LimitExceeded$/.test(code)) return { kind: 'quota' };
  if (/^Insufficient.*Capacity$/.test(code)) return CAPACITY;
  // A code that is new to us with 401 is about a right of these credentials, for EC2 names all that is wrong with them.
  if (status === 401) return DENIED;
  return status === 429 ? THROTTLED : { kind: kindOfStatus(status ?? 500) };
}

// EC2 packs the reason of a refusal into a blob that only `sts decode-authorization-message` can read.
const ENCODED = /\s*Encoded authorization failure message: \S+/;

const wordsIn = (text: string): string => plainMessage(text.replace(ENCODED, ''));

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** No reply, or none that AWS can have sent: what it did is unknown. The SDK gives what it cannot read the status of its answer. */
function isUnanswered({ $metadata }: Thrown, code: string): boolean {
  const status = $metadata?.httpStatusCode;
  return status === undefined || status < 400 || status === TIMED_OUT || (code === '' && status !== TOO_MANY);
}

/** Any failure of a call as a fault that names the action, the place, AWS's own words and the remedy. */
export function awsFault(
  thrown: unknown,
  { action, region }: { readonly action: string; readonly region: string },
): Fault {
  if (thrown instanceof Fault) return thrown;
  const error = (thrown ?? {}) as Thrown;
  const code = codeOf(thrown);
  const known = RULES[code];
  if (!known && isUnanswered(error, code)) {
    const words = wordsIn(messagesOf(thrown));
    const message = `${action} in ${region} got no answer: ${words}`;
    return new Fault('unavailable', message, { cause: thrown, remedy: awayRemedy(words, region) });
  }
  const { kind, remedy } = known ?? guess(code, error.$metadata?.httpStatusCode);
  const message = `${action} in ${region} failed: ${code}: ${wordsIn(error.message ?? '')}`;
  const details = { cause: thrown, remedy: kind === 'denied' && !remedy ? deniedRemedy(action, error) : remedy };
  return new Fault(kind, message, details);
}

function deniedRemedy(action: string, { message = '' }: Thrown): string {
  const named = /not authorized to perform: (\S+?)[\s.]/.exec(`${message} `)?.[1];
  return `Allow the server's role the action ${named ?? action}.`;
}

/** A region that does not exist has no address. */
function awayRemedy(words: string, region: string): string | undefined {
  return /ENOTFOUND|getaddrinfo/.test(words) ? `Check the region: ${region} has no such endpoint.` : undefined;
}
