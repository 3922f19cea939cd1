import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { CHECK_TOKEN_EVERY_MS } from '#access/access.ts';
import { Fault } from '#core/fault.ts';
import { decode } from '#wire/messages.ts';
import { admitted, type CallerCheck } from './admitted.ts';
import { authorized } from './authorize.ts';
import type { RpcHandler, RpcStream } from './transport.ts';

interface Following<Request extends DescMessage> {
  readonly request: Request;
  /** Goes on until what it follows is over; answers the fault to end with, if any. */
  run(stream: RpcStream, request: MessageShape<Request>, signal: AbortSignal): Promise<Fault | undefined>;
}

/** A call for viewers that goes on until what it follows is over, the caller is gone, its token was revoked, or the server stops. */
export function following<Request extends DescMessage>(
  check: CallerCheck,
  stopping: AbortSignal,
  { request, run }: Following<Request>,
): RpcHandler {
  const { authorize, clock } = check;
  return admitted('viewer', check, (stream) => {
    const over = new AbortController();
    const { signal } = over;
    let isAsked = false;

    function end(fault?: Fault): void {
      if (signal.aborted) return;
      stream.end(fault);
      over.abort();
    }

    async function checkToken(): Promise<void> {
      for (;;) {
        await clock.sleep(CHECK_TOKEN_EVERY_MS, signal);
        if (signal.aborted) return;
        await authorized(authorize, stream.caller, 'viewer');
      }
    }

    const failed = (thrown: unknown): void => end(Fault.from(thrown));
    return {
      message(bytes) {
        if (isAsked) return;
        isAsked = true;
        const stop = (): void => end(new Fault('unavailable', 'The server is stopping.'));
        stopping.addEventListener('abort', stop, { once: true, signal });
        run(stream, decode(request, bytes), signal).then(end, failed);
        checkToken().catch(failed);
      },
      halfClosed() {},
      closed: () => over.abort(),
    };
  });
}
