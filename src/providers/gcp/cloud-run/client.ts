import type { Rate } from '#core/call-budget.ts';
import type { Clock } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import type { Ask, RestRequest } from '#rest/client.ts';
import type { CloudListing } from '#rest/cloud-client.ts';
import { NO_CREDENTIALS_VARIABLE } from '../compute/client.ts';
import { nextPage, openGoogleApi } from '../google-api.ts';
import { explainRun } from './faults.ts';

/** The variable by which gcloud is sent to an emulator. */
const ENDPOINT_VARIABLE = 'CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN';
const GOOGLE = 'https://run.googleapis.com';

// Cloud Run, "Quotas and limits": 3,000 reads and 180 writes a minute for each project and region. A bucket lets
// burst + rate × window through in any window.
const READS: Rate = { burst: 600, perSecond: 40 };
const WRITES: Rate = { burst: 30, perSecond: 2.5 };
const isReading = ({ method = 'GET' }: RestRequest): boolean => method === 'GET';
const RATES = [
  { ...READS, counts: isReading },
  { ...WRITES, counts: (request: RestRequest) => !isReading(request) },
];

/** Cloud Run in one region of a project, asked within its limits. */
export interface CloudRun {
  readonly clock: Clock;
  readonly project: string;
  readonly region: string;
  /** `run.googleapis.com`; the port where it has one. */
  readonly host: string;
  /** Paths begin below the region. */
  readonly ask: Ask;
  /** Every page, or throws. */
  all<T>(listing: Omit<CloudListing<T>, 'next'>, signal: AbortSignal): Promise<T[]>;
}

export interface CloudRunPlace {
  readonly project: string;
  readonly region: string;
  readonly endpoint?: string | undefined;
}

/** The same for all that one server opens on one region of a project. */
export function cloudRunAt({ project, region, endpoint }: CloudRunPlace, context: Context): CloudRun {
  const own = endpoint ?? context.variable?.(ENDPOINT_VARIABLE);
  const server = (own || GOOGLE).replace(/\/+$/, '').replace(/\/v2$/, '');
  const isEmulator = endpoint === undefined && context.variable?.(NO_CREDENTIALS_VARIABLE) === 'true';
  const base = `${server}/v2/projects/${project}/locations/${region}`;
  return context.shared(`cloud run ${base}`, () => {
    const { clock, host, ask, all } = openGoogleApi({
      context,
      base,
      isEmulator,
      rates: RATES,
      explain: (status, body) => explainRun(status, body, { project, region }),
    });
    return {
      ...{ clock, project, region, host, ask },
      all: (listing, signal) => all({ ...listing, next: nextPage }, signal),
    };
  });
}

/** The budget of a project: at Google by its id alone, elsewhere with the address. */
export function accountOf({ project, host }: CloudRun): string {
  return GOOGLE === `https://${host}` ? `gcp:${project}` : `gcp:${project}@${host}`;
}
