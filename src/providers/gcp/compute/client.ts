import { type Budget, openBudget, type Rate } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { RestRequest } from '#rest/client.ts';
import { inPages } from '#rest/retry.ts';
import { openGoogleApi } from '../google-api.ts';
import { explainCompute } from './faults.ts';

/** The variables by which gcloud is sent to an emulator, and shows it no credentials. */
export const ENDPOINT_VARIABLE = 'CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE';
export const NO_CREDENTIALS_VARIABLE = 'CLOUDSDK_AUTH_DISABLE_CREDENTIALS';

const GOOGLE = 'https://compute.googleapis.com';

// Compute Engine, "Rate quotas": 1,500 requests a minute for each project and group of methods. A bucket lets
// burst + rate × window through in any window.
const EACH: Rate = { burst: 300, perSecond: 20 };
const PAUSE_MS = 5_000;

export interface ComputeRequest extends RestRequest {
  /** It changes nothing, though its method is POST. */
  readonly isReading?: true;
  /** Another project than its own: public images are in projects of Google. */
  readonly project?: string;
}

export interface ComputeListing<T> extends ComputeRequest {
  /** What a page holds. */
  items(page: unknown): readonly T[];
}

/** Compute Engine for one project, asked within its limits. */
export interface Compute {
  readonly clock: Clock;
  readonly project: string;
  /** `compute.googleapis.com`; the port where it has one. */
  readonly host: string;
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

function openCompute(place: Place, project: string, context: Context): Compute {
  const { clock } = context;
  const factor = context.rates?.gcp ?? 1;
  const rate = { burst: Math.max(1, EACH.burst * factor), perSecond: EACH.perSecond * factor };
  const [reads, writes]: Budget[] = [openBudget(clock, rate), openBudget(clock, rate)];
  const api = openGoogleApi({
    context,
    base: `${place.base}/compute/v1/projects`,
    isEmulator: place.isEmulator,
    explain: (status, body) => explainCompute(status, body, project),
  });

  async function ask<T>(request: ComputeRequest, signal: AbortSignal): Promise<T> {
    const { isReading = (request.method ?? 'GET') === 'GET', project: at = project, ...rest } = request;
    const budget = (isReading ? reads : writes) as Budget;
    await budget.take(signal);
    if (signal.aborted) throw new Fault('unavailable', `${request.path} was cancelled.`);
    return api.ask<T>({ ...rest, path: `/${at}${rest.path}` }, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'throttled') budget.pause(fault.retryAfterMs ?? PAUSE_MS);
      throw fault;
    });
  }

  return {
    clock,
    project,
    host: api.host,
    ask,
    async all<T>({ items, query, ...request }: ComputeListing<T>, signal: AbortSignal): Promise<T[]> {
      const found: T[] = [];
      await inPages(clock, signal, async (pageToken) => {
        const page = await ask<{ readonly nextPageToken?: string } | undefined>(
          { ...request, query: { ...query, pageToken } },
          signal,
        );
        if (typeof page !== 'object')
          throw new Fault('unavailable', `${api.host} answered ${request.path} without a list.`);
        found.push(...items(page));
        return page.nextPageToken;
      });
      return found;
    },
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
