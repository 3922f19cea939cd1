import { hash } from 'node:crypto';
import { type Budget, openBudget, type Rate } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type RestRequest, restClient } from '#rest/client.ts';
import { retried } from '#rest/retry.ts';
import type { Access } from './endpoint.ts';
import { explain } from './faults.ts';

// DigitalOcean API reference, "Rate Limit": 5,000 requests an hour and 250 a minute for each token. A bucket lets
// burst + rate × window through in any window, and both stay below that.
const AN_HOUR: Rate = { burst: 1_400, perSecond: 1 };
const A_MINUTE: Rate = { burst: 130, perSecond: 2 };

/** DigitalOcean's API at one address by one token, asked within its limits. */
export interface DigitalOcean {
  readonly clock: Clock;
  /** `api.digitalocean.com`; the port where it has one. */
  readonly host: string;
  ask<T>(request: RestRequest, signal: AbortSignal): Promise<T>;
  /** Every page of a listing, or throws; each item once by its key. */
  all<T>(listing: Listing<T>, signal: AbortSignal): Promise<T[]>;
}

export interface Listing<T> {
  readonly path: string;
  /** Where the items stand in the answer. */
  readonly items: string;
  readonly query?: Readonly<Record<string, string>>;
  keyOf(item: T): string | number;
}

interface Page {
  readonly links?: { readonly pages?: { readonly next?: string } };
  readonly meta?: { readonly total?: number };
}

type Found<L> = Map<string | number, L extends Listing<infer T> ? T : never>;

const times = ({ burst, perSecond }: Rate, factor: number): Rate => ({
  burst: Math.max(1, burst * factor),
  perSecond: perSecond * factor,
});

const PAGE = 200;
const PASSES = 3;
const PAUSE_MS = 5_000;

function openClient({ base, token }: Access, context: Context): DigitalOcean {
  const { clock } = context;
  const factor = context.rates?.digitalocean ?? 1;
  const budgets: readonly Budget[] = [AN_HOUR, A_MINUTE].map((rate) => openBudget(clock, times(rate, factor)));
  const { host } = new URL(base);
  const headers = { authorization: `Bearer ${token}` };
  const send = restClient({
    fetch: context.fetch,
    clock,
    base: `${base}/v2`,
    cloud: `DigitalOcean (${host})`,
    headers: async () => headers,
    explain,
  });

  async function ask<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
    for (const budget of budgets) await budget.take(signal);
    return send<T>(request, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'throttled') for (const budget of budgets) budget.pause(fault.retryAfterMs ?? PAUSE_MS);
      throw fault;
    });
  }

  /** One walk over all pages; answers the totals that the pages gave. */
  async function walk<T>(
    listing: Listing<T>,
    found: Map<string | number, T>,
    signal: AbortSignal,
  ): Promise<Set<number>> {
    const totals = new Set<number>();
    for (let page = 1, isLast = false; !isLast; page++) {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const query = { ...listing.query, page, per_page: PAGE };
      const answer = await retried(clock, signal, () =>
        ask<Page & Record<string, T[]>>({ path: listing.path, query }, signal),
      );
      const items = answer?.[listing.items];
      if (!Array.isArray(items))
        throw new Fault('unavailable', `${host} answered a listing of ${listing.path} without ${listing.items}.`);
      for (const item of items) found.set(listing.keyOf(item), item);
      totals.add(answer.meta?.total ?? items.length);
      isLast = !answer.links?.pages?.next || items.length === 0;
    }
    return totals;
  }

  return {
    clock,
    host,
    ask,
    // Pages are numbered: what ends meanwhile moves the rest forward, and one item would be skipped. The total shows it.
    async all(listing, signal) {
      const found: Found<typeof listing> = new Map();
      for (let pass = 1; pass <= PASSES; pass++) {
        const totals = await walk(listing, found, signal);
        if (totals.size === 1) break;
      }
      return [...found.values()];
    },
  };
}

/** The client for that address and token, the same for all that one server opens. */
export function digitalOceanAt(access: Access, context: Context): DigitalOcean {
  return context.shared(`client ${access.base} ${hash('sha256', access.token)}`, () => openClient(access, context));
}
