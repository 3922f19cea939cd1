import type { z } from 'zod';
import type { ImageBuild, ImageRecord, NewImageBuild } from '#core/image.ts';
import type * as wire from '../wire/image.ts';
import { toTime } from '../wire/shared.ts';

export function shownImage(record: ImageRecord): wire.Image {
  const { builtAt, ids, ...same } = record;
  return { ...same, ids: { ...ids }, built_at: toTime(builtAt) };
}

export function shownBuild(row: ImageBuild, redact: (text: string) => string): wire.ImageBuild {
  const { startedAt, endedAt, error, ...same } = row;
  const said = error === undefined ? undefined : redact(error);
  return { ...same, error: said, started_at: toTime(startedAt), ended_at: toTime(endedAt) };
}

export function readBuild(sent: z.output<typeof wire.ImageBuildIn>): NewImageBuild {
  const { image, started_at: startedAt, ended_at: endedAt, ...same } = sent;
  return {
    ...same,
    startedAt: Date.parse(startedAt),
    endedAt: Date.parse(endedAt),
    image: image && {
      name: image.name,
      reference: image.reference,
      ids: image.ids,
      builtAt: Date.parse(image.built_at),
    },
  };
}
