// The bytes of a tunnel as messages of a gRPC call. Agent and broker use the same code: to both of them a call is a stream of messages.
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import { tame } from './foreign-text.ts';
import { type TunnelPiece, TunnelPieceSchema } from './gen/velda/muster_pb.ts';
import { bytesMessage, decode, encode } from './messages.ts';

// Small enough that other calls of the same connection get their turn.
const LONGEST_PIECE = 64 * 1024;
const LONGEST_TEXT = 2_000;
const DATA_FIELD = TunnelPieceSchema.field.data.number;

const lost = (): Fault => new Fault('unavailable', 'The connection between server and agent was lost.');

/** The messages of an open call, as streams of Node show them. */
export interface MessageStream {
  read(): unknown;
  write(message: Uint8Array): boolean;
  end(): unknown;
  on(event: string, heard: () => void): unknown;
  once(event: string, heard: () => void): unknown;
}

/** One side of a tunnel. */
export interface TunnelSide {
  /** The next message of the other side; undefined after its last one. Throws the `Fault` that it sends, or `unavailable` if the call ended before. */
  next(): Promise<TunnelPiece | undefined>;
  /** Called after the last message: resolves when the other side has ended its call, so it has taken all bytes; throws as `next` does. */
  finished(): Promise<void>;
  /** Sends in the order of the calls; resolves when there is room for more, throws once the call is over. */
  send(data: Uint8Array): Promise<void>;
  /** Says that this side is open, before it sends data. */
  opened(): void;
  /** This side sends no more data; resolves when it has said so, after all that it sends. */
  end(): Promise<void>;
  /** Ends this side with that fault. */
  fail(fault: Fault): void;
  /** Ends the call of this side at once: what still waits to be sent or read is dropped. */
  close(): void;
}

function faultOf({ kind, message, remedy }: NonNullable<TunnelPiece['failure']>): Fault {
  const known: FaultKind = Object.hasOwn(FAULTS, kind) ? (kind as FaultKind) : 'unavailable';
  return new Fault(known, tame(message, LONGEST_TEXT), remedy === '' ? {} : { remedy: tame(remedy, LONGEST_TEXT) });
}

function pieceOf(message: Uint8Array): TunnelPiece {
  const piece = decode(TunnelPieceSchema, message);
  if (piece.failure) throw faultOf(piece.failure);
  return piece;
}

export function openTunnelSide(call: MessageStream): TunnelSide {
  let isOver = false;
  let isClosed = false;
  let isEndHeard = false;
  let isLastHeard = false;
  let wake = (): void => {};
  let lastSent: Promise<void> = Promise.resolve();
  let hasRoom = (): void => {};

  function over(): void {
    isOver = true;
    hasRoom();
    wake();
  }
  call.on('readable', () => wake());
  call.on('drain', () => hasRoom());
  call.on('end', () => {
    isEndHeard = !isOver;
    over();
  });
  // A call of a server that its client gives up says so only by `cancelled`.
  for (const event of ['close', 'error', 'cancelled']) call.on(event, over);

  async function nextMessage(): Promise<TunnelPiece | undefined> {
    for (;;) {
      const message = call.read() as Uint8Array | null;
      if (message === null && isOver) return undefined;
      if (message === null) await new Promise<void>((resolve) => (wake = resolve));
      else return pieceOf(message);
    }
  }

  function write(piece: Parameters<typeof encode<typeof TunnelPieceSchema>>[1]): boolean {
    if (isOver) throw lost();
    return call.write(encode(TunnelPieceSchema, piece));
  }

  async function sendPieces(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; at += LONGEST_PIECE) {
      if (isOver) throw lost();
      const message = bytesMessage(DATA_FIELD, data.subarray(at, at + LONGEST_PIECE));
      if (!call.write(message)) await new Promise<void>((resolve) => (hasRoom = resolve));
    }
  }

  /** A long piece of data is sent in several messages: those of the next must not come between. */
  function inOrder(act: () => Promise<void>): Promise<void> {
    const done = lastSent.then(act);
    lastSent = done.catch(() => {});
    return done;
  }

  return {
    async next() {
      if (isLastHeard) return undefined;
      const piece = await nextMessage();
      if (!piece) throw lost();
      isLastHeard = piece.isLast;
      return piece;
    },
    async finished() {
      if (await nextMessage())
        throw new Fault('invalid', 'The other side of the tunnel went on after its last message.');
      if (!isEndHeard) throw lost();
    },
    send: (data) => inOrder(() => sendPieces(data)),
    opened() {
      if (!isOver) write({});
    },
    end: () => inOrder(async () => void (isOver || write({ isLast: true }))),
    fail({ kind, message, remedy }) {
      if (!isOver) write({ failure: { kind, message, remedy } });
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      over();
      call.end();
    },
  };
}
