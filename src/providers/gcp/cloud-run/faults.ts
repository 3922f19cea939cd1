// What Cloud Run's words mean: of answers, of operations, and of the condition of a service that did not come up.
import { plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Trouble } from '#core/provider.ts';
import type { Explained } from '#rest/client.ts';
import { explainGoogle } from '../google-fault.ts';
import type { Condition, Status } from './api.ts';

interface Meaning {
  readonly kind: FaultKind;
  readonly remedy?: string;
}

const QUOTA: Meaning = {
  kind: 'quota',
  remedy:
    'Raise the quota of Cloud Run in this region (cloud.google.com/run/quotas), ask for less cpu or memory, or choose another region.',
};

const NOT_PULLED: Meaning = {
  kind: 'denied',
  remedy:
    "Let Cloud Run's service agent read the repository: roles/artifactregistry.reader for service-NUMBER@serverless-robot-prod.iam.gserviceaccount.com.",
};

// By what a condition names as its reason, else by its words: operations have nothing but words. The first that fits counts.
const RULES: readonly (readonly [RegExp, Meaning])[] = [
  [/quota violated|increase in quota|may not exceed|ACTIVE_REVISION_LIMIT/i, QUOTA],
  [/CONTAINER_PERMISSION_DENIED|IMAGE_UNAUTHORIZED|must have permission to read the image/i, NOT_PULLED],
  [
    /CONTAINER_MISSING|image '[^']*' not found/i,
    {
      kind: 'missing',
      remedy: 'Correct image, or push it: `muster image build docker --push HOST/NAME`.',
    },
  ],
  [
    /HEALTH_CHECK_CONTAINER_ERROR|startup probe|failed to start and listen/i,
    {
      kind: 'invalid',
      remedy:
        'Give an image whose entry point is the agent of this version; the log of the revision says why it ended.',
    },
  ],
  [/MIN_INSTANCES_NOT_PROVISIONED/, { kind: 'exhausted', remedy: 'Wait, or choose another region.' }],
  [/VPC_NETWORK_NOT_FOUND/, { kind: 'missing', remedy: 'Correct network and subnetwork.' }],
];

const meaningOf = (...texts: readonly (string | undefined)[]): Meaning | undefined =>
  RULES.find(([pattern]) => texts.some((text) => text !== undefined && pattern.test(text)))?.[1];

const deniedIn = (project: string): string =>
  `Grant the server's account roles/run.developer in the project ${project} (roles/run.admin for allow_unauthenticated), and roles/iam.serviceAccountUser on the service account of the containers.`;

/** What an answer of Cloud Run means. */
export function explainRun(
  status: number,
  body: unknown,
  { project }: { readonly project: string; readonly region: string },
): Explained | undefined {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { readonly error?: Status };
  // A gateway on the way answers in another form.
  if (typeof error !== 'object') return status < 500 && status >= 400 ? undefined : { kind: 'unavailable' };
  const meaning = meaningOf(error.message);
  if (meaning) return { message: error.message, ...meaning };
  return explainGoogle(status, body, deniedIn(project), `run.googleapis.com --project ${project}`);
}

// google.rpc.Code. Those that are not here may pass.
const BY_CODE: Readonly<Record<number, FaultKind>> = {
  3: 'invalid',
  5: 'missing',
  7: 'denied',
  8: 'exhausted',
  9: 'invalid',
  11: 'invalid',
  12: 'unsupported',
};

/** What the error of an operation means; `what` is what failed. */
export function faultOfStatus(what: string, { code = 0, message = '' }: Status): Fault {
  const { kind = BY_CODE[code] ?? 'unavailable', remedy } = meaningOf(message) ?? {};
  return new Fault(kind, plainMessage(`${what} failed: ${message || `code ${code}`}`), { remedy });
}

/** Why a service does not serve, if its condition says so. */
export function troubleOf({ reason, revisionReason, message = '' }: Condition, final: boolean): Trouble {
  const { kind = 'unavailable', remedy } = meaningOf(revisionReason, reason, message) ?? {};
  const said = plainMessage(message) || revisionReason || reason || 'Cloud Run does not say why';
  return { kind, reason: revisionReason ?? reason, message: [said, remedy].filter(Boolean).join(' '), final };
}
