import { Readable } from 'node:stream';
import { z } from 'zod';
import { withBeat } from './beat.ts';
import { checkSessionUse } from './computer-use.ts';
import type { ApiDeps } from './deps.ts';
import { encodeOutput, openTurns } from './encoded-output.ts';
import type { Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';
import { Flag, Name, Since, sinceMsOf } from './wire/shared.ts';

const NDJSON = 'application/x-ndjson';
const OCTETS = 'application/octet-stream';
const TEXT = 'text/plain; charset=utf-8';

const query = z.strictObject({
  follow: Flag.meta({ description: 'Streams until the session has ended.' }),
  after_seq: z.coerce.number().int().min(0).default(0).meta({ description: 'Resume after this chunk.' }),
  attempt: z.coerce.number().int().min(0).default(0).meta({ description: 'The attempt that `after_seq` belongs to.' }),
  stream: z.enum(['stdout', 'stderr']).optional(),
  tail: z.coerce.number().int().min(0).max(1_000_000).optional().meta({
    description: 'Only the last lines of the newest attempt that has written something, and what follows.',
  }),
  since: Since.optional().meta({
    description: 'Only what was written since then: a time, or a duration back from now.',
    examples: ['10m', '2026-01-01T12:00:00Z'],
  }),
  raw: Flag.meta({ description: 'Raw bytes instead of lines of JSON.' }),
  download: Flag.meta({ description: 'Raw bytes as a plain text file that a browser saves and never shows.' }),
});
type Query = z.output<typeof query>;

interface OutputDeps extends Pick<ApiDeps, 'sessions' | 'store' | 'clock'> {
  /** Shared by all readers. */
  readonly turn: ReturnType<typeof openTurns>;
}

const isRaw = ({ raw, download }: Query): boolean => raw || download;

/** Pieces as they arrive; each is sent only when it is durable. */
export async function* outputPieces(
  deps: OutputDeps,
  id: string,
  asked: Query,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  const { follow, after_seq: afterSeq, stream } = asked;
  const from = { follow, afterSeq, attempt: asked.attempt || undefined, tailLines: asked.tail };
  const sinceMs = asked.since === undefined ? 0 : sinceMsOf(asked.since, deps.clock);
  for await (const chunk of deps.sessions.output(id, from, signal)) {
    if ((stream !== undefined && chunk.stream !== stream) || chunk.at < sinceMs) continue;
    await deps.store.durable();
    const piece = encodeOutput(chunk, isRaw(asked) ? 'raw' : 'line');
    await deps.turn(piece);
    yield piece;
  }
}

function outputRoutes(deps: ApiDeps): Route[] {
  const shared = { ...deps, turn: openTurns(deps.clock) };
  return [
    route({
      method: 'GET',
      path: '/sessions/:session/output',
      role: 'viewer',
      summary:
        'The output of a session, as lines of JSON with base64 data, or raw. ' +
        'An empty line is a sign of life of a session that writes nothing.',
      params: z.object({ session: Name }),
      query,
      reply: z.custom<Raw>(),
      media: [NDJSON, OCTETS, 'text/plain'],
      isStream: true,
      async handle({ params, query, signal, turn, header, caller }) {
        const session = await deps.sessions.refer(params.session, caller);
        await checkSessionUse(deps, session, caller);
        header('content-type', query.download ? TEXT : query.raw ? OCTETS : NDJSON);
        if (query.download) header('content-disposition', `attachment; filename="${session.id}.txt"`);
        // One piece ahead is enough: a slow reader must not fill the memory.
        const pieces = outputPieces(shared, session.id, query, signal);
        const beating = isRaw(query) ? pieces : withBeat(pieces, { clock: deps.clock, turn });
        return Readable.from(beating, { objectMode: true, highWaterMark: 1 });
      },
    }),
  ];
}

export const noun: Noun = { tag: 'sessions', order: 50, routes: outputRoutes };
