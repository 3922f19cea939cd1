import { hash } from 'node:crypto';
import type { Context } from '#core/provider.ts';
import { type CloudClient, cloudClient } from '#rest/cloud-client.ts';
import { fixedToken } from '#rest/tokens.ts';
import type { Page } from './api.ts';
import type { Access } from './endpoint.ts';
import { explain } from './faults.ts';

// DigitalOcean API reference, "Rate Limit": 5,000 requests an hour and 250 a minute for each token. A bucket lets
// burst + rate × window through in any window, and both stay below that.
const RATES = [
  { burst: 1_400, perSecond: 1 },
  { burst: 130, perSecond: 2 },
];

/** The client for that address and token, the same for all that one server opens. */
export function digitalOceanAt({ base, token }: Access, context: Context): CloudClient {
  return context.shared(`client ${base} ${hash('sha256', token)}`, () =>
    cloudClient({
      context,
      base: `${base}/v2`,
      cloud: `DigitalOcean (${new URL(base).host})`,
      auth: fixedToken(token),
      rates: RATES,
      factor: context.rates?.digitalocean,
      explain,
    }),
  );
}

interface Listing {
  readonly path: string;
  /** Where the items stand in the answer. */
  readonly items: string;
  readonly query?: Readonly<Record<string, string>>;
}

const PAGE = 200;
const PASSES = 3;

/** Every page of a listing, or throws; each item once. */
export async function everyPage<T extends { readonly id?: number; readonly slug?: string }>(
  api: CloudClient,
  { path, items, query }: Listing,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const found = new Map<unknown, T>();
  const totals = new Set<number | undefined>();
  const listing = {
    path,
    query: { ...query, per_page: PAGE },
    items(page: Page & Readonly<Record<string, T[]>>) {
      totals.add(page.meta?.total);
      return Array.isArray(page[items]) ? page[items] : undefined;
    },
    next({ links }: Page) {
      const page = links?.pages?.next && new URL(links.pages.next).searchParams.get('page');
      return page ? { page } : undefined;
    },
  };
  // Pages are numbered: when an item ends meanwhile, the rest moves forward and one is skipped. The total shows it.
  for (let pass = 1; pass <= PASSES && totals.size !== 1; pass++) {
    totals.clear();
    for (const item of await api.all<T>(listing, signal)) found.set(item.id ?? item.slug, item);
  }
  return [...found.values()];
}
