import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { ApiDeps } from './deps.ts';
import { takeArchive } from './file-archive.ts';
import type { Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import * as wire from './wire/file.ts';

const BODY_LIMIT = 1024 * 1024;

function fileRoutes({ files }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/files',
      role: 'viewer',
      summary: 'Shows how much room uploaded files take, and how much they may take.',
      reply: wire.FileUsage,
      handle() {
        const { files: count, bytes, limits } = files.usage();
        return {
          files: count,
          bytes,
          total_bytes: limits.totalBytes,
          session_bytes: limits.sessionBytes,
          session_files: limits.sessionFiles,
        };
      },
    }),
    route({
      method: 'POST',
      path: '/files/missing',
      role: 'operator',
      summary: 'Tells which of these files this token has still to upload; the others are kept as if used now.',
      body: wire.FileQuestion,
      bodyLimit: BODY_LIMIT,
      reply: wire.MissingFiles,
      handle: ({ body, caller }) => ({ missing: [...files.missing(body.hashes, caller.token)] }),
    }),
    route({
      method: 'POST',
      path: '/files',
      role: 'operator',
      summary:
        'Uploads many small files at once: a tar archive whose entries are named by their hashes, each of at most 1 MB, at most 10,000 with 64 MB. If one is refused, others may have been kept.',
      body: z.custom<Readable>(),
      isUpload: true,
      reply: z.undefined(),
      status: 204,
      async handle({ body, caller }) {
        await takeArchive(body, (hash, content) => files.put(hash, content, caller.token));
        return undefined;
      },
    }),
    route({
      method: 'PUT',
      path: '/files/:hash',
      role: 'operator',
      summary: 'Uploads a file for sessions. The server computes the hash itself, and refuses other bytes.',
      params: z.object({ hash: wire.FileHash }),
      body: z.custom<Readable>(),
      isUpload: true,
      reply: z.undefined(),
      status: 204,
      async handle({ params, body, caller }) {
        await files.put(params.hash, body, caller.token);
        return undefined;
      },
    }),
  ];
}

export const noun: Noun = { tag: 'files', order: 45, routes: fileRoutes };
