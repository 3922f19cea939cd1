import { z } from 'zod';
import { type Chosen, type KnownKinds, oneKind } from '#config/kinds.ts';

/** The section `images` of the server's file. */
export interface ImageSettings {
  readonly sweep: readonly Chosen[];
}

export function imageSection({ images = {} }: Pick<KnownKinds, 'images'>): z.ZodType<ImageSettings> {
  return z
    .object({
      sweep: z
        .array(oneKind(images, 'image builder', 'operator'))
        .default([])
        .describe('Places where the server removes what killed builds have left, with its own credentials.'),
    })
    .prefault({})
    .describe('Images of the agent.');
}
