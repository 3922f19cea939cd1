import { answered } from '#core/answer.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import { type DigitalOcean, digitalOceanAt } from '../client.ts';
import type { DropletConfig } from '../config.ts';
import { accessFor } from '../endpoint.ts';
import { advised, catalogueOf } from '../sizes.ts';
import { accountAt, look } from './account.ts';
import { creatorOf } from './create.ts';
import { findFailures, followActions } from './late.ts';
import { machineOf } from './marks.ts';
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
async function cloudOf(api: DigitalOcean): Promise<string> {
  const patience = { clock: api.clock, what: `The account of the token at ${api.host}`, withinMs: ACCOUNT_WITHIN_MS };
  const ask = (signal: AbortSignal) => api.ask<AccountAnswer>({ path: '/account' }, signal);
  const { account } = await answered(patience, new AbortController().signal, ask);
  const uuid = account?.team?.uuid ?? account?.uuid;
  if (!uuid) throw new Fault('unavailable', `${api.host} did not say which account the token belongs to.`);
  return `digitalocean:${api.host}:${uuid}`;
}

// Each listing is two requests or more of the 5,000 an hour.
const LEAST_GAP_MS = 5_000;

export async function openDroplets(config: DropletConfig, context: Context): Promise<Backend> {
  const api = digitalOceanAt(accessFor(config, config.size, context), context);
  const cloud = await cloudOf(api);
  const account = accountAt(cloud, context);
  const catalogue = catalogueOf(api);
  const { failed } = account;
  const advise = (fault: Fault, signal: AbortSignal): Promise<Fault> => advised(fault, config, { catalogue, signal });
  return {
    cloud,
    // The pool waits for a failure that is known already.
    get leastGapMs() {
      return account.hasNewFailure ? 0 : LEAST_GAP_MS;
    },
    async list(signal) {
      account.hasNewFailure = false;
      const snapshot = await look(account, api, signal);
      await findFailures(account, api, { snapshot, signal });
      const machines = snapshot.droplets.filter(({ name }) => !failed.has(name)).flatMap((one) => machineOf(one) ?? []);
      return [...machines, ...failed.values()];
    },
    create: creatorOf({ account, api, config, advise }),
    delete: removerOf({ account, api }),
    watch: (changed, signal) => followActions(account, { changed, signal }),
    async pricePerHour(signal) {
      const sizes = await catalogue.sizes(signal);
      return sizes.find(({ slug }) => slug === config.size)?.price_hourly;
    },
  };
}
