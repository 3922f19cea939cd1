// The public price list, which needs no login: learn.microsoft.com/rest/api/cost-management/retail-prices.
import type { Context } from '#core/provider.ts';
import { askAt } from '#rest/ask-at.ts';
import type { Arm } from '../arm/client.ts';

const PRICES = 'https://prices.azure.com/api/retail/prices';

interface Price {
  readonly retailPrice?: number;
  readonly currencyCode?: string;
  readonly productName?: string;
  readonly skuName?: string;
  readonly unitOfMeasure?: string;
}

export interface Priced {
  readonly vmSize: string;
  readonly location: string;
  readonly isSpot: boolean;
}

/** Dollars an hour for Linux, without discounts of the subscription; nothing where Azure names no price, or is simulated. */
export async function priceOf(
  { isPlain }: Pick<Arm, 'isPlain'>,
  { vmSize, location, isSpot }: Priced,
  { context, signal }: { readonly context: Pick<Context, 'fetch' | 'clock'>; readonly signal: AbortSignal },
): Promise<number | undefined> {
  if (isPlain) return undefined;
  const $filter = `serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq '${location}' and armSkuName eq '${vmSize.replaceAll("'", "''")}'`;
  const { Items = [] } = await askAt<{ readonly Items?: readonly Price[] }>(
    context,
    { url: PRICES, query: { $filter } },
    signal,
  );
  const prices = Items.filter(
    ({ productName = '', skuName = '', unitOfMeasure, currencyCode }) =>
      currencyCode === 'USD' &&
      unitOfMeasure === '1 Hour' &&
      !/windows|cloud ?services/i.test(productName) &&
      !/low priority/i.test(skuName) &&
      /\bspot\b/i.test(skuName) === isSpot,
  ).flatMap(({ retailPrice }) => (retailPrice ? [retailPrice] : []));
  return prices.length === 0 ? undefined : Math.min(...prices);
}
