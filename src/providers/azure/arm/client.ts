// Azure Resource Manager for one subscription, asked within its limits.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { openWatchedFiles } from '#kube/watched-files.ts';
import type { RestRequest } from '#rest/client.ts';
import { type CloudClient, cloudClient } from '#rest/cloud-client.ts';
import { openTokens } from '#rest/tokens.ts';
import { explainArm } from '../azure-fault.ts';
import { cliToken } from '../credentials/cli.ts';
import { defaultLogin } from '../credentials/default.ts';

/** The variable by which a Resource Manager elsewhere is named, for tests and simulations. */
export const MANAGER_VARIABLE = 'AZURE_RESOURCE_MANAGER_URL';
export const SUBSCRIPTION_VARIABLE = 'AZURE_SUBSCRIPTION_ID';

// learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling: token buckets for each
// subscription and identity. One place of each stays free: of two requests on their way the second may be the faster.
const RATES = [
  { burst: 249, perSecond: 25, counts: ({ method = 'GET' }: RestRequest) => method === 'GET' },
  { burst: 199, perSecond: 10, counts: ({ method = 'GET' }: RestRequest) => !['GET', 'DELETE'].includes(method) },
  { burst: 199, perSecond: 10, counts: ({ method }: RestRequest) => method === 'DELETE' },
];

export interface ArmRequest extends RestRequest {
  readonly apiVersion: string;
}

/** What a page of a listing holds. */
interface Page<T> {
  readonly value?: readonly T[];
  readonly nextLink?: string | null;
}

export interface Arm extends Pick<CloudClient, 'clock' | 'host' | 'keep' | 'askAt'> {
  readonly subscriptionId: string;
  /** A simulation, or a proxy on this machine: it has no use for a token, and must not get one in clear. */
  readonly isPlain: boolean;
  ask<T>(request: ArmRequest, signal: AbortSignal): Promise<T>;
  /** Every page of a listing, or throws. */
  all<T>(request: ArmRequest, signal: AbortSignal): Promise<T[]>;
}

const DENIED =
  'Grant the server’s identity the rights that the page of the provider azure lists, on the resource group.';

function openArm(subscriptionId: string, endpoint: string | undefined, context: Context): Arm {
  const { clock } = context;
  const login = defaultLogin({
    context,
    files: openWatchedFiles(clock),
    cli: (...given) => cliToken(clock, ...given),
  });
  const base = new URL(endpoint ?? login.management).origin;
  const { host, protocol } = new URL(base);
  const isPlain = protocol === 'http:';
  const api = cloudClient({
    context,
    base,
    cloud: `Azure (${host})`,
    auth: isPlain
      ? undefined
      : openTokens({ clock, renew: () => login.token(login.management, new AbortController().signal) }),
    rates: RATES,
    factor: context.rates?.azure,
    explain: (status, body) => explainArm(status, body, DENIED),
  });

  /** Paths are long, and the subscription is the same in all of them. */
  async function shortened<T>(call: Promise<T>): Promise<T> {
    return call.catch((thrown) => {
      const { kind, message, cause, remedy, retryAfterMs } = Fault.from(thrown);
      const short = message.replaceAll(`/subscriptions/${subscriptionId}`, '').replaceAll('/providers/Microsoft.', '/');
      throw new Fault(kind, short, { cause, remedy, retryAfterMs });
    });
  }

  const requestOf = ({ apiVersion, query, ...request }: ArmRequest): RestRequest => ({
    ...request,
    query: { 'api-version': apiVersion, ...query },
  });
  return {
    clock,
    host,
    keep: api.keep,
    subscriptionId,
    isPlain,
    ask: <T>(request: ArmRequest, signal: AbortSignal) => shortened(api.ask<T>(requestOf(request), signal)),
    askAt: <T>(url: string, signal: AbortSignal) => shortened(api.askAt<T>(url, signal)),
    all<T>(request: ArmRequest, signal: AbortSignal) {
      const items = ({ value }: Page<T>) => (Array.isArray(value) ? value : undefined);
      const next = ({ nextLink }: Page<T>) => nextLink ?? undefined;
      return shortened(api.all<T>({ ...requestOf(request), items, next }, signal));
    },
  };
}

export interface ArmPlace {
  readonly subscriptionId?: string | undefined;
  readonly endpoint?: string | undefined;
}

/** The client for that subscription, the same for all that one server opens. */
export function armAt(place: ArmPlace, context: Context): Arm {
  const subscriptionId = place.subscriptionId ?? context.variable?.(SUBSCRIPTION_VARIABLE);
  if (!subscriptionId) {
    throw new Fault('invalid', 'There is no subscription for Azure.', {
      at: 'subscription_id',
      remedy: `Set subscription_id, or ${SUBSCRIPTION_VARIABLE} where Muster runs.`,
    });
  }
  const endpoint = place.endpoint ?? context.variable?.(MANAGER_VARIABLE);
  const id = subscriptionId.toLowerCase();
  return context.shared(`arm ${endpoint ?? ''} ${id}`, () => openArm(id, endpoint, context));
}
