// The error codes of Compute Engine: those of HTTP answers are `quotaExceeded`, those of operations and instance groups
// `QUOTA_EXCEEDED`.
import { plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Explained } from '#rest/client.ts';
import { explainGoogle } from '../google-fault.ts';
import type { CodedError } from './api.ts';

interface Rule {
  readonly code: RegExp;
  readonly kind: FaultKind;
  readonly remedy?: string;
}

// The first that fits counts: `RATE_LIMIT_EXCEEDED` is no quota of machines.
const RULES: readonly Rule[] = [
  { code: /rate_?limit|rate_exceeded/i, kind: 'throttled' },
  {
    code: /^ip_space_exhausted/i,
    kind: 'quota',
    remedy: 'Enlarge the subnetwork: it has no free addresses.',
  },
  {
    code: /resource_?pool_?exhausted|insufficient_?capacity|stockout|unsupported_operation/i,
    kind: 'exhausted',
    remedy: 'Wait, or offer another machine type or zone.',
  },
  {
    code: /quota|limit_?exceeded/i,
    kind: 'quota',
    remedy: 'Raise the quota of the project in this region, or lower max_agents.',
  },
  {
    code: /condition_?not_?met|constraint/i,
    kind: 'denied',
    remedy: 'A policy of the organization forbids it: change the machine or the policy.',
  },
  { code: /already_?exists/i, kind: 'conflict' },
  { code: /not_?ready|in_?use/i, kind: 'conflict' },
  { code: /permission|forbidden|denied/i, kind: 'denied' },
  { code: /not_?found/i, kind: 'missing' },
  { code: /invalid|bad_?request|required/i, kind: 'invalid' },
];

const ruleFor = (code: string): Rule | undefined => RULES.find((rule) => rule.code.test(code));

/** What the errors of an operation or of an instance group mean; `what` is what failed. */
export function faultOfErrors(what: string, errors: readonly CodedError[]): Fault {
  const known = errors.find(({ code = '' }) => ruleFor(code)) ?? errors[0];
  const { code = 'UNKNOWN', message = '' } = known ?? {};
  const { kind = 'unavailable', remedy } = ruleFor(code) ?? {};
  const said = message.startsWith(code) || message === '' ? message || code : `${code}: ${message}`;
  return new Fault(kind, plainMessage(`${what} failed: ${said}`), { remedy });
}

interface ErrorBody {
  readonly error?: { readonly message?: string; readonly errors?: readonly { readonly reason?: string }[] };
}

/** What an answer of Compute Engine means. */
export function explainCompute(status: number, body: unknown, project: string): Explained | undefined {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  const denied = `Grant the server's account roles/compute.instanceAdmin.v1 in the project ${project}.`;
  const explained = explainGoogle(status, body, denied, `compute.googleapis.com --project ${project}`);
  const rule = (error?.errors ?? []).map(({ reason = '' }) => ruleFor(reason)).find(Boolean);
  // A gateway on the way answers in another form.
  if (error === undefined) return status < 500 && status >= 400 ? undefined : { kind: 'unavailable' };
  if (!rule || explained?.kind) return explained;
  return { message: explained?.message, kind: rule.kind, remedy: rule.remedy ?? explained?.remedy };
}
