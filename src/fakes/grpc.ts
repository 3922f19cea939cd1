// gRPC as requests and answers of HTTP, so that a fake that speaks it goes the same way as any other. The status of an
// answer stands in its headers; where it really travels, they become trailers.
import { messagesOf } from '#core/answer.ts';
import { GRPC, type Unary, type UnaryAnswer } from '#core/unary.ts';

const HEAD_BYTES = 5;
const NOTHING = new Uint8Array();

/** A message as it travels: a byte that says it is not compressed, its length, and itself. */
export function framed(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD_BYTES + message.byteLength);
  new DataView(frame.buffer).setUint32(1, message.byteLength);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** The message of a frame; nothing where it is cut short. */
export function unframed(frame: Uint8Array): Uint8Array | undefined {
  if (frame.byteLength < HEAD_BYTES) return undefined;
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(1);
  return frame.byteLength < HEAD_BYTES + length ? undefined : frame.slice(HEAD_BYTES, HEAD_BYTES + length);
}

export interface GrpcRefusal {
  readonly code: number;
  readonly text: string;
  /** `google.rpc.Status` */
  readonly details?: Uint8Array | undefined;
}

/** A good answer. */
export function grpcAnswer(message: Uint8Array): Response {
  return new Response(framed(message), { headers: { 'content-type': 'application/grpc', 'grpc-status': '0' } });
}

// Printable ASCII stands as it is, but for the sign that begins a code (gRPC over HTTP2, "Status-Message").
const inHeader = (text: string): string => text.replace(/[^ -$&-~]+/g, encodeURIComponent);

export function grpcRefusal({ code, text, details }: GrpcRefusal): Response {
  const headers = {
    'content-type': 'application/grpc',
    'grpc-status': String(code),
    'grpc-message': inHeader(text),
    ...(details && { 'grpc-status-details-bin': Buffer.from(details).toString('base64') }),
  };
  return new Response(null, { headers });
}

const broken = (code: number, text: string): UnaryAnswer => ({ code, text, message: NOTHING });

/** What a client makes of an answer, as gRPC libraries do. */
async function understood(response: Response): Promise<UnaryAnswer> {
  const status = response.headers.get('grpc-status');
  if (status === null) return broken(GRPC.UNAVAILABLE, `Received HTTP status code ${response.status}`);
  const message = unframed(new Uint8Array(await response.arrayBuffer()));
  const code = Number(status);
  if (code === GRPC.OK) {
    return message ? { code, text: '', message } : broken(GRPC.INTERNAL, 'the answer is cut short');
  }
  const details = response.headers.get('grpc-status-details-bin');
  return {
    code,
    text: decodeURIComponent(response.headers.get('grpc-message') ?? ''),
    details: details === null ? undefined : new Uint8Array(Buffer.from(details, 'base64')),
    message: NOTHING,
  };
}

/** gRPC calls to a fake. */
export function unaryOver(fetchFrom: typeof fetch): Unary {
  return async ({ address, path, metadata, message }, signal) => {
    try {
      const headers = { ...metadata, 'content-type': 'application/grpc', te: 'trailers' };
      const init = { method: 'POST', headers, body: framed(message), signal };
      return await understood(await fetchFrom(`${address}${path}`, init));
    } catch (thrown) {
      return signal.aborted ? broken(GRPC.CANCELLED, 'cancelled') : broken(GRPC.UNAVAILABLE, messagesOf(thrown));
    }
  };
}
