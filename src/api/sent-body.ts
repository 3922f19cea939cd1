import { errorCodes, type FastifyRequest } from 'fastify';

// Up to here the pieces of a body are joined when the last has come: more would hold up all others, since the system finds
// the memory of each page when it is first written to.
const JOINED_AT_ONCE_BYTES = 2 ** 20;

type Done = (error: Error | null, body?: Buffer) => void;

/** The bytes of a body: of a long one each piece is copied to its place as it comes. */
export function openPieces(knownBytes: number, mostBytes: number) {
  let pieces: Buffer[] = [];
  let whole: Buffer | undefined;
  let bytes = 0;

  /** Room for at least so many; not at the first piece, since a length is easily claimed. */
  function makeRoom(forBytes: number): Buffer {
    if (whole && whole.length >= forBytes) return whole;
    const room = Buffer.allocUnsafeSlow(Number.isNaN(knownBytes) ? Math.min(2 * forBytes, mostBytes) : knownBytes);
    let at = 0;
    for (const each of whole ? [whole.subarray(0, bytes)] : pieces) at += each.copy(room, at);
    pieces = [];
    whole = room;
    return room;
  }

  return {
    get bytes() {
      return bytes;
    },
    add(piece: Buffer): void {
      const after = bytes + piece.length;
      if (after <= JOINED_AT_ONCE_BYTES) pieces.push(piece);
      else piece.copy(makeRoom(after), bytes);
      bytes = after;
    },
    whole: (): Buffer => whole?.subarray(0, bytes) ?? Buffer.concat(pieces, bytes),
  };
}

/** Reads the body of a request. Fastify's own reader does the same, but joins all pieces at the end. */
export function readSentBody(request: FastifyRequest, payload: NodeJS.ReadableStream, done: Done): void {
  const mostBytes = request.routeOptions.bodyLimit;
  const knownBytes = Number(request.headers['content-length'] ?? Number.NaN);
  if (knownBytes > mostBytes) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  const pieces = openPieces(knownBytes, mostBytes);

  function stopReading(): void {
    payload.off('data', take);
    payload.off('end', ended);
    payload.off('error', ended);
  }

  function take(piece: Buffer): void {
    if (pieces.bytes + piece.length <= mostBytes) return pieces.add(piece);
    stopReading();
    done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  }

  function ended(error?: Error): void {
    stopReading();
    if (error) done(Object.assign(error, { statusCode: 400 }));
    else if (!Number.isNaN(knownBytes) && pieces.bytes !== knownBytes)
      done(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
    else done(null, pieces.whole());
  }

  payload.on('data', take);
  payload.on('end', ended);
  payload.on('error', ended);
  payload.resume();
}
