import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { openBurstQueue } from '#core/burst-queue.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { connectionKey, plainAddress } from '../edge/open-connections.ts';
import type { GrpcConnections } from './connections.ts';
import type { RpcCaller, RpcMethod } from './method.ts';
import { statusOfThrown } from './status.ts';

// As long as an HTTP client has for its whole request.
const REQUEST_MS = 60_000;

export interface AdmissionOptions {
  /** The client's address where a connection comes from a standby; by `connectionKey`. */
  readonly clientAddress?: ((peer: string) => string | undefined) | undefined;
  readonly connections: Pick<GrpcConnections, 'proved' | 'refused' | 'cut'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What serves a call that was admitted, by the kind of its method. */
type ServeOf<Type extends RpcMethod['type']> = Awaited<ReturnType<Extract<RpcMethod, { type: Type }>['admit']>>;
type Serve = ServeOf<RpcMethod['type']>;

function callerOf(
  call: ServerInterceptingCallInterface,
  metadata: Metadata,
  { clientAddress, connections }: AdmissionOptions,
): RpcCaller {
  const ends = call.getConnectionInfo();
  const peer = connectionKey(ends);
  return {
    peerAddress: plainAddress(clientAddress?.(peer) ?? ends.remoteAddress ?? 'unknown'),
    get certificateName() {
      const name: unknown = call.getAuthContext().sslPeerCertificate?.subject.CN;
      return typeof name === 'string' ? name : undefined;
    },
    header(name) {
      const [value] = metadata.get(name);
      return typeof value === 'string' ? value : undefined;
    },
    proved: () => connections.proved(peer),
    cut: () => connections.cut(peer),
  };
}

/** Lets callers in by what metadata, certificate and address show, before a message of them is read. */
export function openAdmission(methods: ReadonlyMap<string, RpcMethod>, options: AdmissionOptions) {
  const { connections, clock, log } = options;
  const admitted = new WeakMap<Metadata, Serve>();
  // One packet may open a thousand calls: the rest of them waits until others had a turn.
  const burst = openBurstQueue(clock);

  const interceptor: ServerInterceptor = ({ path, requestStream }, call) => {
    const peer = connectionKey(call.getConnectionInfo());
    let isWell = false;
    let isOver = false;
    let cancel = (): void => {};
    const refuse = (thrown: unknown): void => call.sendStatus(statusOfThrown(thrown, path, log));

    function admit(caller: RpcCaller, taken: (serve: Serve) => void): void {
      if (isOver) return;
      if (requestStream) return decide(caller, taken);
      const why = `The request was not complete within ${REQUEST_MS / 1_000} s.`;
      cancel = clock.alarm(REQUEST_MS, () => refuse(new Fault('invalid', why)));
      decide(caller, (serve) => {
        // A method without a stream of requests is one for a role.
        caller.proved();
        taken(serve);
      });
    }

    /** At once where the method can: one that counts its callers may not lose one between. */
    function decide(caller: RpcCaller, taken: (serve: Serve) => void): void {
      try {
        const serve = methods.get(path)?.admit(caller);
        if (serve instanceof Promise) serve.then(taken, refuse);
        else if (serve) taken(serve);
      } catch (thrown) {
        refuse(thrown);
      }
    }

    return new ServerInterceptingCall(call, {
      sendStatus(status, next) {
        isWell = status.code === 0;
        next(status);
      },
      start: (next) =>
        next({
          onReceiveMetadata(metadata, goOn) {
            const caller = callerOf(call, metadata, options);
            const taken = (serve: Serve): void => {
              admitted.set(metadata, serve);
              goOn(metadata);
            };
            burst.run(() => admit(caller, taken), caller.peerAddress);
          },
          onReceiveHalfClose(goOn) {
            cancel();
            goOn();
          },
          onCancel() {
            isOver = true;
            cancel();
            if (!isWell) connections.refused(peer);
          },
        }),
    });
  };

  return {
    interceptor,
    /** What serves the call with this metadata, of a method of this kind. */
    servedBy: <Type extends RpcMethod['type']>(_type: Type, metadata: Metadata): ServeOf<Type> =>
      admitted.get(metadata) as ServeOf<Type>,
  };
}
