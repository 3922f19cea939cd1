// The frames of HTTP/2 (RFC 9113, sections 4, 6 and 7).

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const SETTING = { enablePush: 2, mostStreams: 3, initialWindow: 4, longestFrame: 5, longestHeaders: 6 } as const;

export const ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

export type ErrorCode = (typeof ERROR)[keyof typeof ERROR];

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const HEAD_BYTES = 9;
export const SETTING_BYTES = 6;
export const PING_BYTES = 8;
/** What both sides may send unless the other has allowed more; we never do. */
export const LONGEST_FRAME_BYTES = 16_384;
export const LARGEST_LONGEST_FRAME = 2 ** 24 - 1;
/** What both sides may send before they hear of more, on a stream and on the connection. */
export const FIRST_WINDOW_BYTES = 65_535;
export const LARGEST_WINDOW_BYTES = 2 ** 31 - 1;

const STREAM_BITS = 0x7fffffff;

export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Writes the head of a frame into the first bytes, for all that follows it there. */
export function writeHead(bytes: Buffer, { type, flags, stream }: FrameHead): Buffer {
  bytes.writeUIntBE(bytes.length - HEAD_BYTES, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  return bytes;
}

export function frameOf(head: FrameHead, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.set(payload, HEAD_BYTES);
  return writeHead(bytes, head);
}

/** A frame whose payload is one number of 32 bits. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + 4);
  bytes.writeUInt32BE(value, HEAD_BYTES);
  return writeHead(bytes, { type, flags: 0, stream });
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + settings.length * SETTING_BYTES);
  settings.forEach(([id, value], n) => {
    bytes.writeUInt16BE(id, HEAD_BYTES + n * SETTING_BYTES);
    bytes.writeUInt32BE(value, HEAD_BYTES + n * SETTING_BYTES + 2);
  });
  return writeHead(bytes, { type: FRAME.settings, flags: 0, stream: 0 });
}

export function goAwayFrame(lastStream: number, code: ErrorCode): Buffer {
  const payload = Buffer.allocUnsafe(8);
  payload.writeUInt32BE(lastStream, 0);
  payload.writeUInt32BE(code, 4);
  return frameOf({ type: FRAME.goAway, flags: 0, stream: 0 }, payload);
}

/** A number of 31 bits, whose first bit has no meaning. */
export const number31 = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at) & STREAM_BITS;
