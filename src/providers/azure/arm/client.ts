// Azure Resource Manager for one subscription, asked within its limits.
import { type Budget, openBudget, type Rate } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { openWatchedFiles } from '#kube/watched-files.ts';
import type { RestRequest } from '#rest/client.ts';
import { cloudClient } from '#rest/cloud-client.ts';
import { inPages } from '#rest/retry.ts';
import { openTokens } from '#rest/tokens.ts';
import { explainArm } from '../azure-fault.ts';
import { cliToken } from '../credentials/cli.ts';
import { defaultLogin } from '../credentials/default.ts';

/** The variable by which a Resource Manager elsewhere is named, for tests and simulations. */
export const MANAGER_VARIABLE = 'AZURE_RESOURCE_MANAGER_URL';
export const SUBSCRIPTION_VARIABLE = 'AZURE_SUBSCRIPTION_ID';

// learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling: token buckets for each
// subscription and identity. One place of each stays free: of two requests on their way the second may be the faster.
const LIMITS: Readonly<Record<'reads' | 'writes' | 'deletes', Rate>> = {
  reads: { burst: 249, perSecond: 25 },
  writes: { burst: 199, perSecond: 10 },
  deletes: { burst: 199, perSecond: 10 },
};
const PAUSE_MS = 5_000;

export interface ArmRequest extends RestRequest {
  readonly apiVersion: string;
}

export interface Arm {
  readonly clock: Clock;
  /** `management.azure.com`; the port where it has one. */
  readonly host: string;
  readonly subscriptionId: string;
  /** A simulation, or a proxy on this machine: it has no use for a token, and must not get one in clear. */
  readonly isPlain: boolean;
  ask<T>(request: ArmRequest, signal: AbortSignal): Promise<T>;
  /** A full address that Azure gave us: the next page, an operation. */
  askAt<T>(url: string, signal: AbortSignal): Promise<T>;
  /** Every page of a listing, or throws. */
  all<T>(request: ArmRequest, signal: AbortSignal): Promise<T[]>;
}

interface Page<T> {
  readonly value?: readonly T[];
  readonly nextLink?: string | null;
}

const kindOf = (method = 'GET'): keyof typeof LIMITS =>
  method === 'GET' ? 'reads' : method === 'DELETE' ? 'deletes' : 'writes';

const times = ({ burst, perSecond }: Rate, factor: number): Rate => ({
  burst: Math.max(1, Math.floor(burst * factor)),
  perSecond: perSecond * factor,
});

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
  const tokens = openTokens({ clock, renew: () => login.token(login.management, new AbortController().signal) });
  const factor = context.rates?.azure ?? 1;
  const budgets = new Map<string, Budget>(
    Object.entries(LIMITS).map(([kind, rate]) => [kind, openBudget(clock, times(rate, factor))]),
  );
  const isPlain = protocol === 'http:';

  const { ask: send } = cloudClient({
    context,
    base,
    cloud: `Azure (${host})`,
    auth: isPlain ? undefined : tokens,
    rates: [],
    explain: (status, body) => explainArm(status, body, DENIED),
  });

  /** Paths are long, and the subscription is the same in all of them. */
  function shortened(fault: Fault): Fault {
    const message = fault.message
      .replaceAll(`/subscriptions/${subscriptionId}`, '')
      .replaceAll('/providers/Microsoft.', '/');
    const { cause, remedy, retryAfterMs } = fault;
    return message === fault.message ? fault : new Fault(fault.kind, message, { cause, remedy, retryAfterMs });
  }

  async function within<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
    const budget = budgets.get(kindOf(request.method)) as Budget;
    await budget.take(signal);
    return send<T>(request, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'throttled') budget.pause(fault.retryAfterMs ?? PAUSE_MS);
      throw shortened(fault);
    });
  }

  function askAt<T>(url: string, signal: AbortSignal): Promise<T> {
    const { origin, pathname: path, searchParams } = new URL(url);
    // Our token goes there, so it must be Azure's own address.
    if (origin !== base) throw new Fault('unavailable', `${host} names an address at ${origin}.`);
    return within<T>({ path, query: Object.fromEntries(searchParams) }, signal);
  }

  const ask = <T>({ apiVersion, ...request }: ArmRequest, signal: AbortSignal): Promise<T> =>
    within<T>({ ...request, query: { 'api-version': apiVersion, ...request.query } }, signal);

  return {
    clock,
    host,
    subscriptionId,
    isPlain,
    ask,
    askAt,
    async all<T>(request: ArmRequest, signal: AbortSignal): Promise<T[]> {
      const found: T[] = [];
      await inPages(clock, signal, async (link) => {
        const page = await (link === undefined ? ask<Page<T>>(request, signal) : askAt<Page<T>>(link, signal));
        // Somebody else who answers 200 must not look like an empty group.
        if (!Array.isArray(page?.value)) throw new Fault('unavailable', `${host} answered a listing without a list.`);
        found.push(...page.value);
        return page.nextLink ?? undefined;
      });
      return found;
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
      remedy: `Set subscription_id, or ${SUBSCRIPTION_VARIABLE} for the server.`,
    });
  }
  const endpoint = place.endpoint ?? context.variable?.(MANAGER_VARIABLE);
  const id = subscriptionId.toLowerCase();
  return context.shared(`arm ${endpoint ?? ''} ${id}`, () => openArm(id, endpoint, context));
}
