import type { z } from 'zod';
import { listedPools } from '#core/listed-pools.ts';
import { ownFields, sharedFields } from '../config.ts';

export const AutoConfig = listedPools({
  shared: sharedFields,
  own: ownFields,
  type: 'type',
  entry: 'its instance type and price limit',
});
export type AutoConfig = z.output<typeof AutoConfig>;

/** Where its pools are: with the kind its identity, where it has no name. */
export const placeOf = ({ projectId, region }: AutoConfig): string => `${projectId}:${region}`;
