// What carries calls: today @grpc/grpc-js. Messages are bytes here, so that another carrier is one file.
import type { Duplex } from 'node:stream';
import type { Fault } from '#core/fault.ts';

/** Who calls, as far as the connection itself tells. */
export interface RpcCaller {
  readonly peerAddress: string;
  /** The common name of a client certificate that was verified. */
  readonly certificateName: string | undefined;
  header(name: string): string | undefined;
}

/** Our side of one open call. */
export interface Stream {
  readonly caller: RpcCaller;
  /** `written` is called when the connection has taken the message; never after the call has closed. */
  write(message: Uint8Array, written: () => void): void;
  /** Called while a message is heard: no further one is handed on until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the call after all that was written: well, or with the status of a fault. */
  end(fault?: Fault): void;
  /** Drops the whole connection at once, for a peer that does not read. */
  cut(): void;
}

/** What the handler of a call hears, in order. */
export interface Listener {
  message(bytes: Uint8Array): void;
  /** The caller sends no more; it may still read. */
  halfClosed(): void;
  /** Over, for whatever reason; nothing is heard after it. */
  closed(): void;
}

export type Handler = (stream: Stream) => Listener;

export interface Transport {
  /** Takes over an accepted connection, secured or not. */
  accept(socket: Duplex): void;
  /** No new calls; drops after `graceMs` what has not ended by then. */
  stop(graceMs: number): Promise<void>;
}

export interface TransportOptions {
  /** How often an idle peer is asked whether it lives, and how long it has to answer. */
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}
