import { hash } from 'node:crypto';
import { openBudget } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type RestRequest, restClient } from '#rest/client.ts';
import { inPages } from '#rest/retry.ts';
import type { Page } from './api.ts';
import { explain } from './faults.ts';

export const TOKEN_VARIABLE = 'MITHRIL_API_TOKEN';
/** The variable that SkyPilot reads too. */
export const URL_VARIABLE = 'MITHRIL_API_URL';

const USUAL = 'https://api.mithril.ai';

// Mithril publishes no limits; these are ours.
const RATE = { perSecond: 40, burst: 100 };
const PAGE = 100;
const PAUSE_MS = 5_000;

/** Mithril's API at one address by one token. */
export interface Mithril {
  readonly clock: Clock;
  readonly host: string;
  ask<T>(request: RestRequest, signal: AbortSignal): Promise<T>;
  /** Every page of a listing, or throws. */
  all<T>(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<T[]>;
}

interface Access {
  readonly token: string;
  readonly base: string;
}

export interface AccessConfig {
  readonly apiToken?: string | undefined;
  readonly apiEndpoint?: string | undefined;
}

function accessFor({ apiToken, apiEndpoint }: AccessConfig, context: Context): Access {
  const token = apiToken || context.variable?.(TOKEN_VARIABLE);
  if (!token) {
    throw new Fault('unauthenticated', 'There is no API token for Mithril.', {
      remedy: `Set api_token, or ${TOKEN_VARIABLE} for the server.`,
    });
  }
  const base = apiEndpoint ?? context.variable?.(URL_VARIABLE) ?? USUAL;
  return { token, base: base.replace(/\/+$/, '').replace(/\/v2$/, '') };
}

function openClient({ token, base }: Access, context: Context): Mithril {
  const { clock } = context;
  const factor = context.rates?.mithril ?? 1;
  const budget = openBudget(clock, { perSecond: RATE.perSecond * factor, burst: Math.max(1, RATE.burst * factor) });
  const { host } = new URL(base);
  const headers = { authorization: `Bearer ${token}` };
  const send = restClient({
    fetch: context.fetch,
    clock,
    base: `${base}/v2`,
    cloud: `Mithril (${host})`,
    headers: async () => headers,
    explain,
  });

  async function ask<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
    await budget.take(signal);
    return send<T>(request, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'throttled') budget.pause(fault.retryAfterMs ?? PAUSE_MS);
      throw fault;
    });
  }

  return {
    clock,
    host,
    ask,
    async all<T>(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<T[]> {
      const found: T[] = [];
      await inPages(clock, signal, async (cursor) => {
        const asked = { ...query, limit: PAGE, next_cursor: cursor };
        const { data, next_cursor } = (await ask<Page<T> | undefined>({ path, query: asked }, signal)) ?? {};
        if (!data) throw new Fault('unavailable', `${host} answered a listing of ${path} without data.`);
        found.push(...data);
        return next_cursor ?? undefined;
      });
      return found;
    },
  };
}

/** The client for that configuration, the same for all that one server opens with it. */
export function mithrilAt(config: AccessConfig, context: Context): Mithril {
  const access = accessFor(config, context);
  return context.shared(`client ${access.base} ${hash('sha256', access.token)}`, () => openClient(access, context));
}
