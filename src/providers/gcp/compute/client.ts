import type { Rate } from '#core/call-budget.ts';
import type { Clock } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import type { RestRequest } from '#rest/client.ts';
import type { CloudListing } from '#rest/cloud-client.ts';
import type { Keep } from '#rest/kept.ts';
import { nextPage, openGoogleApi } from '../google-api.ts';
import { explainCompute } from './faults.ts';

/** The variables by which gcloud is sent to an emulator, and shows it no credentials. */
export const ENDPOINT_VARIABLE = 'CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE';
export const NO_CREDENTIALS_VARIABLE = 'CLOUDSDK_AUTH_DISABLE_CREDENTIALS';

const GOOGLE = 'https://compute.googleapis.com';

// Compute Engine, "Rate quotas": 1,500 requests a minute for each project and group of methods. A bucket lets
// burst + rate × window through in any window.
const EACH: Rate = { burst: 300, perSecond: 20 };
const isReading = ({ method = 'GET', path }: RestRequest): boolean => method === 'GET' || /\/list\w*$/.test(path);
const RATES = [
  { ...EACH, counts: isReading },
  { ...EACH, counts: (request: RestRequest) => !isReading(request) },
];

export interface ComputeRequest extends RestRequest {
  /** Another project than its own: public images are in projects of Google. */
  readonly project?: string;
}

type ComputeListing<T> = Omit<CloudListing<T>, 'next'> & Pick<ComputeRequest, 'project'>;

/** Compute Engine for one project, asked within its limits. */
export interface Compute {
  readonly clock: Clock;
  readonly project: string;
  /** `compute.googleapis.com`; the port where it has one. */
  readonly host: string;
  readonly keep: Keep;
  /** Paths begin below the project. */
  ask<T>(request: ComputeRequest, signal: AbortSignal): Promise<T>;
  /** Every page, or throws. */
  all<T>(listing: ComputeListing<T>, signal: AbortSignal): Promise<T[]>;
}

interface Place {
  /** Without the version. */
  readonly base: string;
  readonly isEmulator: boolean;
}

function placeFor(endpoint: string | undefined, { variable }: Context): Place {
  const own = endpoint ?? variable?.(ENDPOINT_VARIABLE);
  const base = (own || GOOGLE).replace(/\/+$/, '').replace(/\/compute\/v1$/, '');
  return { base, isEmulator: endpoint === undefined && variable?.(NO_CREDENTIALS_VARIABLE) === 'true' };
}

function openCompute({ base, isEmulator }: Place, project: string, context: Context): Compute {
  const { clock, host, keep, ask, all } = openGoogleApi({
    context,
    base: `${base}/compute/v1/projects`,
    isEmulator,
    rates: RATES,
    explain: (status, body) => explainCompute(status, body, project),
  });
  return {
    clock,
    project,
    host,
    keep,
    ask: ({ project: at = project, ...request }, signal) => ask({ ...request, path: `/${at}${request.path}` }, signal),
    all: ({ project: at = project, ...listing }, signal) =>
      all({ ...listing, path: `/${at}${listing.path}`, next: nextPage }, signal),
  };
}

/** The same for all that one server opens on one project. */
export function computeAt(project: string, endpoint: string | undefined, context: Context): Compute {
  const place = placeFor(endpoint, context);
  return context.shared(`compute ${place.base} ${project}`, () => openCompute(place, project, context));
}

/** The budget of a project: at Google by its id alone, elsewhere with the address. */
export function accountOf({ project, host }: Compute): string {
  return `${GOOGLE}` === `https://${host}` ? `gcp:${project}` : `gcp:${project}@${host}`;
}
