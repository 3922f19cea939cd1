import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';

// Below that the network sends it in a few packets anyway.
const LEAST_BYTES = 4_096;
// JSON shrinks tenfold at the fastest level; the others take several times as long for little more.
const LEVEL = { level: constants.Z_BEST_SPEED };

const gzipped = promisify(gzip);

/** `gzip;q=0` is a refusal. */
const takesGzip = ({ headers }: FastifyRequest): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0\.\d*[1-9])[^,]*)?(?:,|$)/i.test(String(headers['accept-encoding'] ?? ''));

/** Compresses long answers for clients that accept it, on another thread. Streams are never held back for it. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < LEAST_BYTES || reply.hasHeader('content-encoding'))
      return done(null, payload);
    reply.header('vary', 'accept-encoding');
    if (request.method === 'HEAD' || !takesGzip(request)) return done(null, payload);
    gzipped(payload, LEVEL).then(
      (bytes) => {
        reply.header('content-encoding', 'gzip').removeHeader('content-length');
        done(null, bytes);
      },
      (thrown) => done(thrown as Error),
    );
  });
}
