import { z } from 'zod';
import { BUILD_OUTCOMES, MOST_LOG } from '#core/image.ts';
import { listOf, Name, Time } from './shared.ts';

const Ids = z
  .record(z.string(), z.string())
  .meta({ description: 'Its id by region; by `` where there are no regions.' });

export const Image = z
  .object({
    id: z.string().meta({ description: 'Of the record.' }),
    name: z.string(),
    version: z.string(),
    reference: z.string().meta({ description: 'What a pool or computer names it by.' }),
    recipe: z.string().meta({ description: 'Hash of its recipe.' }),
    ids: Ids,
    builder: z.string(),
    cloud: z.string().meta({ description: 'Where it is.' }),
    host: z.string().meta({ description: 'The machine on which the command ran.' }),
    build: z.string().meta({ description: 'Id of the build that made it, or that found it first.' }),
    built_at: Time,
    by: z.string(),
  })
  .meta({ id: 'Image' });
export type Image = z.infer<typeof Image>;
export const ImageList = listOf(Image);

const outcome = z.enum(BUILD_OUTCOMES).meta({ description: '`unchanged`: the image of an equal recipe was there.' });

export const ImageBuild = z
  .object({
    id: z.string(),
    image: z.string().optional().meta({ description: 'What the image is referred to by, where there is one.' }),
    builder: z.string(),
    cloud: z.string(),
    host: z.string(),
    version: z.string(),
    recipe: z.string().optional(),
    outcome,
    error: z.string().optional(),
    started_at: Time,
    ended_at: Time,
    by: z.string(),
  })
  .meta({ id: 'ImageBuild' });
export type ImageBuild = z.infer<typeof ImageBuild>;
export const ImageBuildList = listOf(ImageBuild);

export const ImageBuildWithLog = ImageBuild.extend({
  log: z.string().meta({ description: 'Its output; empty where it is no longer kept.' }),
}).meta({ id: 'ImageBuildWithLog' });
export type ImageBuildWithLog = z.infer<typeof ImageBuildWithLog>;

const MOST_ERROR = 20_000;

export const ImageBuildIn = z.strictObject({
  builder: Name,
  cloud: Name,
  host: Name,
  version: Name,
  recipe: Name.optional(),
  outcome,
  image: z.strictObject({ name: Name, reference: Name, ids: Ids, built_at: Time }).optional(),
  error: z.string().max(MOST_ERROR).optional(),
  started_at: Time,
  ended_at: Time,
  log: z.string().max(MOST_LOG).default(''),
});
export type ImageBuildIn = z.input<typeof ImageBuildIn>;
