import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { CHECK_TOKEN_EVERY_MS } from '#access/access.ts';
import { Fault } from '#core/fault.ts';
import { decode } from '#wire/messages.ts';
import { authorized, type CallerCheck } from './authorize.ts';
import type { AnswerStream, AnswerStreamMethod, RpcCaller } from './method.ts';

/** One call that follows something. */
export interface FollowedCall<Request> {
  readonly request: Request;
  readonly caller: RpcCaller;
  readonly signal: AbortSignal;
  /** Resolves when the connection has taken the message, so that a slow reader slows us down; at once when the call is over. */
  say(message: Uint8Array): Promise<void>;
}

interface Following<Request extends DescMessage> {
  readonly request: Request;
  /** Goes on until what it follows is over, or `signal` aborts. */
  run(call: FollowedCall<MessageShape<Request>>): Promise<void>;
}

/** Resolves when the connection has taken the message, or the call is over. */
export function sayTo(call: AnswerStream, signal: AbortSignal, message: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const goOn = (): void => {
      signal.removeEventListener('abort', goOn);
      resolve();
    };
    signal.addEventListener('abort', goOn);
    call.write(message, goOn);
  });
}

/** A method for viewers whose calls go on until what they follow is over, the caller is gone, its token was revoked, or the server stops. */
export function following<Request extends DescMessage>(
  { authorize, clock }: CallerCheck,
  stopping: AbortSignal,
  { request: schema, run }: Following<Request>,
): AnswerStreamMethod {
  async function checkToken(caller: RpcCaller, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(CHECK_TOKEN_EVERY_MS, signal);
      if (signal.aborted) return;
      await authorized(authorize, caller, 'viewer');
    }
  }

  function follow(call: AnswerStream, caller: RpcCaller): Promise<void> {
    const over = new AbortController();
    const { signal } = over;
    const say = (message: Uint8Array): Promise<void> => sayTo(call, signal, message);
    return new Promise<void>((resolve, reject) => {
      const request = decode(schema, call.request);
      const stop = (): void => reject(new Fault('unavailable', 'The server is stopping.'));
      stopping.addEventListener('abort', stop, { once: true, signal });
      call.once('close', resolve);
      run({ request, caller, signal, say }).then(resolve, reject);
      checkToken(caller, signal).catch(reject);
    }).finally(() => over.abort());
  }

  return {
    type: 'serverStream',
    async admit(caller) {
      await authorized(authorize, caller, 'viewer');
      return (call) => follow(call, caller);
    },
  };
}
