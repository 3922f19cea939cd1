import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type CloudClient, cloudClient } from '#rest/cloud-client.ts';
import { fixedToken } from '#rest/tokens.ts';
import type { Page } from './api.ts';
import { explain } from './faults.ts';

export const TOKEN_VARIABLE = 'MITHRIL_API_TOKEN';
/** The variable that SkyPilot reads too. */
export const URL_VARIABLE = 'MITHRIL_API_URL';

const USUAL = 'https://api.mithril.ai';

// Mithril publishes no limits; these are ours.
const RATES = [{ perSecond: 40, burst: 100 }];
const PAGE = 100;

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

/** The client for that configuration, the same for all that one server opens with it. */
export function mithrilAt(config: AccessConfig, context: Context): CloudClient {
  const { token, base } = accessFor(config, context);
  return context.shared(`client ${base} ${hash('sha256', token)}`, () =>
    cloudClient({
      context,
      base: `${base}/v2`,
      cloud: `Mithril (${new URL(base).host})`,
      auth: fixedToken(token),
      rates: RATES,
      factor: context.rates?.mithril,
      explain,
    }),
  );
}

/** Every page of a listing, or throws. */
export function allOf<T>(
  api: CloudClient,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<T[]> {
  const listing = {
    path,
    query: { ...query, limit: PAGE },
    items: ({ data }: Page<T>) => data,
    next: ({ next_cursor }: Page<T>) => (next_cursor ? { next_cursor } : undefined),
  };
  return api.all<T>(listing, signal);
}
