import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, Client, credentials, Metadata } from '@grpc/grpc-js';
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import { LONGEST_MESSAGE_BYTES } from '#wire/messages.ts';
import type { MessageStream } from '#wire/tunnel-pieces.ts';
import { type BrokerAddress, targetOf } from './address.ts';
import type { Ending } from './backoff.ts';

/** Our side of one open call. */
export interface ClientStream {
  /** `written` is called when the connection has taken the message; never after the call has ended. */
  write(message: Uint8Array, written: () => void): void;
  /** Half-closes the call. */
  halfClose(): void;
  cancel(): void;
}

/** A call with messages both ways and back-pressure. */
export interface DuplexCall {
  readonly messages: MessageStream;
  /** Resolves when the call has ended, however it did. */
  readonly ended: Promise<void>;
  cancel(): void;
}

export interface StreamEvents {
  message(bytes: Uint8Array): void;
  /** Called once, as the last event. */
  ended(ending: Ending): void;
}

/** One connection to the broker. */
export interface Line {
  /** A call with one request and a stream of answers; a `Fault` where it ends otherwise than well. */
  fetch(path: string, headers: Readonly<Record<string, string>>, request: Uint8Array): AsyncIterable<Uint8Array>;
  open(path: string, headers: Readonly<Record<string, string>>, events: StreamEvents): ClientStream;
  duplex(path: string, headers: Readonly<Record<string, string>>): DuplexCall;
  close(): void;
}

export interface BrokerTrust {
  /** The only CA that is trusted, as PEM. Default: those of the machine. */
  readonly ca?: string | undefined;
  readonly pair?: { readonly key: string; readonly cert: string } | undefined;
}

const PING_EVERY_MS = 7_000;
const PING_TIMEOUT_MS = 5_000;
/** A line to a dead or frozen broker ends within this time. */
export const SILENT_LINE_ENDS_MS = PING_EVERY_MS + PING_TIMEOUT_MS;
// Velda's broker cuts off who pings more often than every five minutes.
const SELDOM_MS = 6 * 60_000;
// What may be on its way to one call: with the default of 64 KB a copy over a network with 50 ms gets 1.3 MB/s.
const WINDOW_BYTES = 1024 * 1024;
const NO_NAME = 'broker.invalid';

function securityOf({ host, isSecure }: BrokerAddress, { ca, pair }: BrokerTrust): ChannelCredentials {
  if (!isSecure) return credentials.createInsecure();
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(ca), pem(pair?.key), pem(pair?.cert), {
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  });
}

export interface LineOptions {
  /** The broker is known not to be Muster's: it allows few pings. */
  readonly isForeign?: boolean | undefined;
}

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

// Several kinds share a code; the first of each is the one that a caller can act on.
function faultOfCall(thrown: unknown): Fault {
  const { code, details } = thrown as { readonly code?: number; readonly details?: string };
  const kinds = Object.keys(FAULTS) as FaultKind[];
  const kind = kinds.find((one) => FAULTS[one].grpc === code) ?? 'unavailable';
  return new Fault(kind, details || 'The call was cut off.', { cause: thrown });
}

export function openLine(address: BrokerAddress, trust: BrokerTrust, { isForeign }: LineOptions = {}): Line {
  const client = new Client(targetOf(address), securityOf(address, trust), {
    'grpc.default_authority': address.authority,
    // TLS allows no IP address as server name; grpc-js sends it anyway, and Node refuses.
    ...(isIP(address.host) && { 'grpc.ssl_target_name_override': NO_NAME }),
    // We reconnect ourselves, so the back-off of grpc-js must not delay us.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': LONGEST_MESSAGE_BYTES,
    'grpc.keepalive_time_ms': isForeign ? SELDOM_MS : PING_EVERY_MS,
    'grpc.keepalive_timeout_ms': PING_TIMEOUT_MS,
    'grpc-node.flow_control_window': WINDOW_BYTES,
  });
  const asTheyAre = (bytes: Buffer): Buffer => bytes;
  const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    async *fetch(path, headers, request) {
      const message = Buffer.from(request);
      const call = client.makeServerStreamRequest<Buffer, Buffer>(
        path,
        asTheyAre,
        asTheyAre,
        message,
        metadataOf(headers),
      );
      try {
        for await (const answer of call) yield answer as Buffer;
      } catch (thrown) {
        throw faultOfCall(thrown);
      } finally {
        call.cancel();
      }
    },
    open(path, headers, events) {
      const metadata = metadataOf(headers);
      const call = client.makeBidiStreamRequest<Buffer, Buffer>(path, asTheyAre, asTheyAre, metadata);
      call.on('data', (bytes: Buffer) => events.message(bytes));
      // Every call ends with a status; the error event only repeats it.
      call.on('error', () => {});
      call.once('status', ({ code, details }) => events.ended({ code, details }));
      return {
        write: (message, written) =>
          void call.write(Buffer.from(message.buffer, message.byteOffset, message.byteLength), () => written()),
        halfClose: () => void call.end(),
        cancel: () => call.cancel(),
      };
    },
    duplex(path, headers) {
      const call = client.makeBidiStreamRequest<Buffer, Buffer>(path, asBuffer, asTheyAre, metadataOf(headers));
      // Every call ends with a status; the stream shows it as its end only to who reads it until then.
      call.on('error', () => {});
      const ended = new Promise<void>((resolve) => call.once('status', () => resolve()));
      return { messages: call, ended, cancel: () => call.cancel() };
    },
    close: () => client.close(),
  };
}
