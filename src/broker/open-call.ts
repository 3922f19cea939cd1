import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { FAULTS, Fault } from '#core/fault.ts';
import type { RpcCaller, RpcHandler, RpcListener, RpcStream } from './transport.ts';
import { LONGEST_MESSAGE_BYTES, tame } from './wire/frame.ts';

const LONGEST_STATUS_TEXT = 1_024;

/** The status that a caller gets; an internal error shows no details. */
export function grpcStatusOf(fault: Fault): { code: number; details: string } {
  const { grpc: code } = FAULTS[fault.kind];
  if (fault.kind === 'internal') return { code, details: 'Internal server error. See the log of the server.' };
  // grpc-js encodes this text as a URI, which throws on half a surrogate pair.
  return { code, details: tame(`${fault.message} ${fault.remedy}`, LONGEST_STATUS_TEXT) };
}

/** grpc-js has one limit for all calls of a server, and keeps it in two places of each call. */
interface LimitedCall {
  maxReceiveMessageSize: number;
  readonly decoder: { maxReadMessageLength: number };
}

/** Shared by all calls of one path. */
export interface Service {
  readonly handler: RpcHandler;
  /** A handler threw an internal error. */
  failed(fault: Fault): void;
  /** Drops the connection of that peer. */
  cut(peer: string): void;
}

/** One open call for grpc-js; a single object, since every connected agent keeps one. */
export class OpenCall implements RpcStream, RpcCaller {
  readonly #call: ServerInterceptingCallInterface;
  readonly #service: Service;
  #metadata: Metadata | undefined;
  #listener: RpcListener | undefined;
  #hasEnded = false;
  #isPaused = false;
  #isReading = false;
  #isReadDue = false;

  constructor(call: ServerInterceptingCallInterface, service: Service) {
    this.#call = call;
    this.#service = service;
  }

  get caller(): RpcCaller {
    return this;
  }

  get peerAddress(): string {
    // A dual-stack socket shows IPv4 callers in their IPv6 form.
    return (this.#call.getConnectionInfo().remoteAddress ?? 'unknown').replace(/^::ffff:/i, '');
  }

  get certificateName(): string | undefined {
    const name: unknown = this.#call.getAuthContext().sslPeerCertificate?.subject?.CN;
    return typeof name === 'string' ? name : undefined;
  }

  header(name: string): string | undefined {
    const value = this.#metadata?.get(name)[0];
    return typeof value === 'string' ? value : undefined;
  }

  write(message: Uint8Array, written: () => void): void {
    if (this.#hasEnded) return;
    this.#call.sendMessage(Buffer.from(message.buffer, message.byteOffset, message.byteLength), written);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  trust(): void {
    const call = this.#call as unknown as LimitedCall;
    call.maxReceiveMessageSize = LONGEST_MESSAGE_BYTES;
    call.decoder.maxReadMessageLength = LONGEST_MESSAGE_BYTES;
  }

  end(fault?: Fault): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#call.sendStatus(fault ? grpcStatusOf(fault) : { code: 0, details: 'OK' });
  }

  cut(): void {
    const { remoteAddress, remotePort } = this.#call.getConnectionInfo();
    this.#service.cut(`${remoteAddress}:${remotePort}`);
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.#metadata = metadata;
    this.#guarded(() => {
      this.#listener = this.#service.handler(this);
    });
    this.#read();
  }

  onReceiveMessage(bytes: Uint8Array): void {
    this.#guarded(() => this.#listener?.message(bytes));
    this.#read();
  }

  onReceiveHalfClose(): void {
    this.#guarded(() => this.#listener?.halfClosed());
  }

  /** grpc-js calls this at every end of a call, also after status OK. */
  onCancel(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#guarded(() => listener?.closed());
  }

  /** `startRead` delivers waiting messages synchronously: a loop, since there may be more than the stack is deep. */
  #read(): void {
    this.#isReadDue = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isReadDue && !this.#isPaused) {
      this.#isReadDue = false;
      this.#call.startRead();
    }
    this.#isReading = false;
  }

  #guarded(handle: () => void): void {
    try {
      handle();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'internal') this.#service.failed(fault);
      this.end(fault);
    }
  }
}
