// The error form of Azure Resource Manager, and what its codes mean for a machine:
// learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors.
import { plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Explained } from '#rest/client.ts';

export interface ArmError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ArmError[] | undefined;
}

interface Rule {
  readonly codes: RegExp;
  /** Where the code stands for several things. */
  readonly words?: RegExp;
  readonly kind: FaultKind;
  readonly remedy: string;
}

// The first that fits counts.
const RULES: readonly Rule[] = [
  {
    codes: /^SpotPriceGreaterThanProvidedMaxPrice$/,
    kind: 'exhausted',
    remedy: 'Raise spot_max_price, or leave it out; or offer another size or location.',
  },
  {
    codes:
      /^(SkuNotAvailable|(Zonal)?AllocationFailed|Overconstrained(Zonal)?AllocationRequest|.*CapacityNotAvailable.*)$/,
    kind: 'exhausted',
    remedy: 'Wait, or offer another size, zone or location.',
  },
  {
    // Of container instances; elsewhere the service itself is away.
    codes: /^ServiceUnavailable$/,
    words: /not available in the location/i,
    kind: 'exhausted',
    remedy: 'Wait, ask for fewer cpus or less memory_gb, or offer another location.',
  },
  {
    codes: /^RegistryErrorResponse$/,
    kind: 'exhausted',
    remedy: 'Wait: the registry is away, or limits how often images are pulled. Log in to it, or use one of your own.',
  },
  {
    codes: /^InaccessibleImage$/,
    kind: 'invalid',
    remedy:
      'Push it (`muster image build docker --push HOST/NAME`), correct image, or set registry_username and registry_password.',
  },
  {
    codes: /^ContainerGroupQuotaReached$/,
    kind: 'quota',
    remedy: 'Raise the quota of container instances in this location (page Quotas of the portal), or lower max_agents.',
  },
  {
    codes: /^(QuotaExceeded|PublicIPCountLimitReached|.*QuotaReached|ResourceQuotaExceeded)$/,
    kind: 'quota',
    remedy: 'Raise the quota of the subscription in this location (az vm list-usage), or lower max_agents.',
  },
  {
    codes: /^(OperationNotAllowed|Conflict)$/,
    words: /quota|exceeding approved/i,
    kind: 'quota',
    remedy: 'Raise the vCPU quota of this size family in this location (az vm list-usage), or lower max_agents.',
  },
  {
    codes: /^RequestDisallowedByPolicy$/,
    kind: 'denied',
    remedy: 'Exempt the resource group from the policy, or set what it demands.',
  },
  {
    codes: /^(ReadOnlyDisabledSubscription|SubscriptionNotRegistered|MissingSubscriptionRegistration)$/,
    kind: 'denied',
    remedy:
      'Enable the subscription, and register Microsoft.Compute and Microsoft.Network, for containers Microsoft.ContainerInstance: az provider register.',
  },
];

const TOO_MANY = 429;
const PRECONDITION_FAILED = 412;

/** The error itself, and what stands behind it: a deployment names only the latter. */
const allOf = (error: ArmError): ArmError[] => [error, ...(error.details ?? []).flatMap(allOf)];

function ruleFor(error: ArmError): Rule | undefined {
  for (const { code = '', message = '' } of allOf(error)) {
    const rule = RULES.find(({ codes, words }) => codes.test(code) && (words?.test(message) ?? true));
    if (rule) return rule;
  }
  return undefined;
}

const wordsOf = ({ code = 'no code', message = 'no message' }: ArmError): string => `${code}: ${message}`;

/** What Azure's words mean; `denied` is the remedy where a right is missing. */
export function explainArm(status: number, body: unknown, denied: string): Explained | undefined {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { readonly error?: ArmError };
  if (typeof error !== 'object' || error?.code === undefined) return undefined;
  const message = wordsOf(error);
  if (status === TOO_MANY)
    return { message, remedy: 'Wait; all programs of this identity share the limits of the subscription.' };
  if (status === PRECONDITION_FAILED) return { kind: 'conflict', message };
  const rule = ruleFor(error);
  if (rule) return { kind: rule.kind, message, remedy: rule.remedy };
  return status === 403 ? { message, remedy: denied } : { message };
}

/** What a long-running operation failed with, after Azure had agreed. */
export function faultOfOperation(error: ArmError | undefined, what: string): Fault {
  if (!error) return new Fault('unavailable', `${what} failed, and Azure gave no reason.`);
  const rule = ruleFor(error);
  const message = `${what} failed: ${plainMessage(wordsOf(error))}`;
  return new Fault(rule?.kind ?? 'unavailable', message, { remedy: rule?.remedy });
}
