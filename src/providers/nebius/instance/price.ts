import { create, toBinary } from '@bufbuild/protobuf';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import type { InstanceConfig } from '../config.ts';
import { CreateInstanceRequestSchema, HourFilter_Unit } from '../gen/nebius_pb.ts';
import { specOf } from './request.ts';

const REQUEST_TYPE = 'type.googleapis.com/nebius.compute.v1.CreateInstanceRequest';

/** What Nebius estimates for an instance with its disk, in dollars an hour; nothing where it names none. */
export async function pricePerHour(
  api: Nebius,
  config: InstanceConfig,
  { image, signal }: { readonly image: string; readonly signal: AbortSignal },
): Promise<number | undefined> {
  const request = create(CreateInstanceRequestSchema, {
    metadata: { parentId: config.parentId },
    spec: specOf(config, image),
  });
  const value = toBinary(CreateInstanceRequestSchema, request);
  const question = {
    resourceSpecs: [{ spec: { typeUrl: REQUEST_TYPE, value } }],
    filterAggregationUnit: { filterAggregationUnitValues: [HourFilter_Unit.HOUR] },
  };
  const { totalCosts, currency } = await api.ask(METHODS.estimate, question, { signal });
  const cost = totalCosts.find(({ aggregationUnit }) => aggregationUnit?.unit === 'hour')?.general?.total?.cost;
  const dollars = Number(cost);
  return cost && currency === 'usd' && dollars > 0 ? dollars : undefined;
}
