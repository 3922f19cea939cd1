import type { AzureCall } from '../read-call.ts';
import { SIZES } from './seed-data.ts';

const asked = (filter: string, name: string): string | undefined =>
  new RegExp(`${name} eq '([^']+)'`).exec(filter)?.[1];

/** The public price list, as far as the filter names a size and a location: among the prices of Linux are others. */
export function listPrices({ params }: AzureCall): object {
  const filter = params.$filter ?? '';
  const [name, location] = [asked(filter, 'armSkuName'), asked(filter, 'armRegionName')];
  const size = SIZES.find((one) => one.name === name && one.locations.includes(location ?? ''));
  const item = (skuName: string, productName: string, retailPrice: number) => ({
    ...{ skuName, productName, retailPrice, armSkuName: name, armRegionName: location },
    ...{ currencyCode: 'USD', unitOfMeasure: '1 Hour', type: 'Consumption' },
  });
  const items = size && [
    item('X', 'Virtual Machines Series Windows', size.price * 2),
    item('X', 'Virtual Machines Series', size.price),
    item('X Spot', 'Virtual Machines Series', size.spotPrice),
    item('X Low Priority', 'Virtual Machines Series', size.spotPrice / 2),
  ];
  return { BillingCurrency: 'USD', Items: items ?? [], NextPageLink: null };
}
