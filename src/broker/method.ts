import type { ServerDuplexStream, ServerReadableStream, ServerWritableStream } from '@grpc/grpc-js';
import { Fault } from '#core/fault.ts';

// Messages are bytes for grpc-js, which answers a message that it cannot decode with an internal error.
export type AnswerStream = ServerWritableStream<Buffer, Uint8Array>;
export type RequestStream = ServerReadableStream<Buffer, Uint8Array>;
export type TwoWayStream = ServerDuplexStream<Buffer, Uint8Array>;

/** The caller, as its connection and its metadata show it. */
export interface RpcCaller {
  /** Where the client is; behind a standby not the address of the connection. */
  readonly peerAddress: string;
  /** The common name of a client certificate that our CA signed. */
  readonly certificateName: string | undefined;
  header(name: string): string | undefined;
  /** It has proved who it is, and so its connection counts as one of a known caller. */
  proved(): void;
  /** Drops its connection at once, for a peer that does not read. */
  cut(): void;
}

interface MethodOf<Type extends string, Serve> {
  readonly type: Type;
  /** Sees the caller before a message of it is read: throws a `Fault` to refuse it, or answers what serves the call. */
  admit(caller: RpcCaller): Serve | Promise<Serve>;
}

export type UnaryMethod = MethodOf<'unary', (request: Uint8Array) => Promise<Uint8Array>>;
/** What they answer ends the call, with status OK or with that of a fault. */
export type AnswerStreamMethod = MethodOf<'serverStream', (call: AnswerStream) => Promise<void>>;
export type RequestStreamMethod = MethodOf<'clientStream', (call: RequestStream) => Promise<Uint8Array>>;
/** Ends its calls itself. */
export type TwoWayMethod = MethodOf<'bidi', (call: TwoWayStream) => void>;

export type RpcMethod = UnaryMethod | AnswerStreamMethod | RequestStreamMethod | TwoWayMethod;

/** A method that Velda's server has and Muster does not; the fault names what to use instead. */
export function unsupported(message: string, remedy: string): UnaryMethod {
  return {
    type: 'unary',
    admit() {
      throw new Fault('unsupported', message, { remedy });
    },
  };
}
