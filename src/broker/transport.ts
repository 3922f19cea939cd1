// The transport of calls: gRPC on our own HTTP/2. Messages are bytes here, so that another transport is a few files.
import type { Socket } from 'node:net';
import type { Fault } from '#core/fault.ts';

/** The caller, as the connection shows it. */
export interface RpcCaller {
  readonly peerAddress: string;
  /** The common name of a client certificate that was verified. */
  readonly certificateName: string | undefined;
  header(name: string): string | undefined;
}

/** Our side of one open call. */
export interface RpcStream {
  readonly caller: RpcCaller;
  /** `written` is called when the connection has taken the message; never after the call has closed. */
  write(message: Uint8Array, written: () => void): void;
  /** Call it while a message is handled: the next one comes after `resume`. */
  pause(): void;
  resume(): void;
  /** The caller was checked: its messages may have `LONGEST_MESSAGE_BYTES`, in place of `LONGEST_UNCHECKED_BYTES`. */
  trust(): void;
  /** Ends the call after all that was written, with status OK or the status of a fault. */
  end(fault?: Fault): void;
  /** Drops the whole connection at once, for a peer that does not read. */
  cut(): void;
}

/** What the handler of a call receives, in order. */
export interface RpcListener {
  message(bytes: Uint8Array): void;
  /** The caller sends no more; it may still read. */
  halfClosed(): void;
  /** The call is over, for any reason; the last event of a call. */
  closed(): void;
}

export type RpcHandler = (stream: RpcStream) => RpcListener;

export interface Transport {
  /** Takes over an accepted connection, with or without TLS. */
  accept(socket: Socket): void;
  /** Accepts no new calls; after `graceMs` drops the connections that are still open. */
  stop(graceMs: number): Promise<void>;
}

export interface TransportOptions {
  /** How often an idle peer is pinged, and how long it has to answer. */
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}
