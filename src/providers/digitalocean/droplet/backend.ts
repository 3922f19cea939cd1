import { answered } from '#core/answer.ts';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import { digitalOceanAt } from '../client.ts';
import type { DropletConfig } from '../config.ts';
import { accessFor } from '../endpoint.ts';
import { pricePerHour } from '../sizes.ts';
import { checkerOf } from './check.ts';
import { creatorOf } from './create.ts';
import { listDroplets, machineOf } from './listing.ts';
import { removerOf } from './remove.ts';

// Below the time that opening has, so that a cloud that hangs is named.
const ACCOUNT_WITHIN_MS = 20_000;

interface AccountAnswer {
  readonly account?: { readonly uuid?: string; readonly team?: { readonly uuid?: string } };
}

/**
 * The account behind a token. Two accounts have listings of their own, and a new token of the same account must not be
 * taken for another.
 */
async function cloudOf(api: CloudClient): Promise<string> {
  const patience = { clock: api.clock, what: `The account of the token at ${api.host}`, withinMs: ACCOUNT_WITHIN_MS };
  const ask = (signal: AbortSignal) => api.ask<AccountAnswer>({ path: '/account' }, signal);
  return api.keep('account', HOUR_MS, async () => {
    const { account } = await answered(patience, new AbortController().signal, ask);
    const uuid = account?.team?.uuid ?? account?.uuid;
    if (!uuid) throw new Fault('unavailable', `${api.host} did not say which account the token belongs to.`);
    return `digitalocean:${api.host}:${uuid}`;
  });
}

// Each listing is two requests or more of the 5,000 an hour.
const LEAST_GAP_MS = 5_000;

export async function openDroplets(config: DropletConfig, context: Context): Promise<Backend> {
  const api = digitalOceanAt(accessFor(config, config.size, context), context);
  const { cluster } = context;
  return {
    cloud: await cloudOf(api),
    leastGapMs: LEAST_GAP_MS,
    list: async (signal) => (await listDroplets(api, { cluster, signal })).map(machineOf),
    create: creatorOf(api, config, cluster),
    check: checkerOf(api),
    delete: removerOf(api, cluster),
    pricePerHour: (signal) => pricePerHour(api, config.size, signal),
  };
}
