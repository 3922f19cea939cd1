import { z } from 'zod';
import { duration } from '#core/schema.ts';

export const FileConfig = z
  .strictObject({
    path: z.string().min(1).optional().describe('The directory of pool documents, or a single document.'),
    directory: z.string().min(1).optional().describe('The same as `path`; one of the two must be given.'),
    updateInterval: duration(1_000)
      .prefault('10s')
      .describe('Interval between listings. Changes that the operating system reports are read at once.'),
    trusted: z
      .boolean()
      .default(false)
      .describe(
        "Whether its documents are trusted like the operator's own file. They may then use every backend, and links may lead out of the directory.",
      ),
  })
  .refine(({ path, directory }) => (path === undefined) !== (directory === undefined), {
    message: 'needs either path or directory',
  });
export type FileConfig = z.infer<typeof FileConfig>;

/** The place that the configuration names, without a trailing slash. */
export function placeOf({ path, directory }: FileConfig): string {
  const place = path ?? directory ?? '';
  return place.length > 1 ? place.replace(/\/+$/, '') : place;
}
