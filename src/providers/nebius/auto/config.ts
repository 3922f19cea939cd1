import type { z } from 'zod';
import { listedPools } from '#core/listed-pools.ts';
import { ownFields, sharedFields } from '../config.ts';

export const AutoConfig = listedPools({
  shared: sharedFields,
  own: ownFields,
  type: 'platform',
  entry: 'its platform and preset',
});
export type AutoConfig = z.output<typeof AutoConfig>;

/** Where its pools are: with the kind its identity, where it has no name. */
export const placeOf = ({ parentId }: AutoConfig): string => parentId;
