import { z } from 'zod';

export const FileHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: 'Must be a SHA-256 in lower-case hexadecimal.' })
  .meta({ description: 'SHA-256 of the content, in hexadecimal.' });

export const MOST_HASHES_AT_ONCE = 10_000;

export const FileQuestion = z
  .strictObject({ hashes: z.array(FileHash).min(1).max(MOST_HASHES_AT_ONCE) })
  .meta({ id: 'FileQuestion' });

export const MissingFiles = z
  .object({ missing: z.array(FileHash).meta({ description: 'Those that this token has still to upload.' }) })
  .meta({ id: 'MissingFiles' });
export type MissingFiles = z.infer<typeof MissingFiles>;

/** What files take, and may take. */
export const FileUsage = z
  .object({
    files: z.int(),
    bytes: z.int(),
    total_bytes: z.int().meta({ description: 'Bytes of all files that the server keeps at most.' }),
    session_bytes: z.int().meta({ description: 'Bytes of the files of one session.' }),
    session_files: z.int().meta({ description: 'Number of files of one session.' }),
  })
  .meta({ id: 'FileUsage' });
export type FileUsage = z.infer<typeof FileUsage>;

/** The folder of a session. */
export const SessionFilesIn = z.strictObject({
  manifest: FileHash.meta({
    description:
      'SHA-256 of the manifest, which is uploaded as a file: one JSON object a line, in the order of `path`. A folder is `{path, folder: true, mode}`, a file `{path, hash, bytes, mode}`, a link `{path, link}`.',
  }),
});

export const SessionFiles = z.object({
  manifest: FileHash,
  count: z.int().meta({ description: 'Number of files and links.' }),
  bytes: z.int(),
});
