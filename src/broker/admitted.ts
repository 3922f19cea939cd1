import type { Role } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Authorize, authorized } from './authorize.ts';
import type { RpcHandler, RpcListener, RpcStream } from './transport.ts';

/** What every call for a role needs. */
export interface CallerCheck {
  readonly authorize: Authorize;
  readonly clock: Clock;
}

// As long as an HTTP client has for its whole request.
const REQUEST_MS = 60_000;

/** A call for callers of a role: until the token was checked, nothing of it is read, and its request must come in time. */
export function admitted(
  role: Role,
  { authorize, clock }: CallerCheck,
  open: (stream: RpcStream, actor: Actor) => RpcListener,
): RpcHandler {
  return (stream): RpcListener => {
    let listener: RpcListener | undefined;
    let isClosed = false;
    const why = `The request was not complete within ${REQUEST_MS / 1_000} s.`;
    const cancel = clock.alarm(REQUEST_MS, () => stream.end(new Fault('invalid', why)));

    async function admit(): Promise<void> {
      const actor = await authorized(authorize, stream.caller, role);
      if (isClosed) return;
      stream.trust();
      listener = open(stream, actor);
      stream.resume();
    }

    stream.pause();
    admit().catch((thrown) => stream.end(Fault.from(thrown)));
    return {
      message(bytes) {
        cancel();
        listener?.message(bytes);
      },
      halfClosed: () => listener?.halfClosed(),
      closed() {
        isClosed = true;
        cancel();
        listener?.closed();
      },
    };
  };
}
