import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { decode, encode } from '#wire/messages.ts';
import { admitted, type CallerCheck } from './admitted.ts';
import type { RpcHandler, RpcListener } from './transport.ts';

interface Exchange<Request extends DescMessage, Answer extends DescMessage> {
  /** The least role that may call. */
  readonly role: Role;
  readonly request: Request;
  readonly answer: Answer;
  run(request: MessageShape<Request>, actor: Actor): Promise<MessageInitShape<Answer>>;
}

/** A call with one message each way. It fails before anything is written, so clients may retry. */
export function unary<Request extends DescMessage, Answer extends DescMessage>(
  check: CallerCheck,
  exchange: Exchange<Request, Answer>,
): RpcHandler {
  return admitted(exchange.role, check, (stream, actor): RpcListener => {
    let isAsked = false;
    async function answer(bytes: Uint8Array): Promise<void> {
      const reply = await exchange.run(decode(exchange.request, bytes), actor);
      stream.write(encode(exchange.answer, reply), () => {});
      stream.end();
    }
    return {
      message(bytes) {
        if (isAsked)
          return stream.end(new Fault('invalid', 'This call takes one message; the client sent a second one.'));
        isAsked = true;
        answer(bytes).catch((thrown) => stream.end(Fault.from(thrown)));
      },
      halfClosed() {
        if (!isAsked) stream.end(new Fault('invalid', 'This call takes one message; the client sent none.'));
      },
      closed() {},
    };
  });
}

/** A call that Velda's server has and Muster does not; the fault names what to use instead. */
export function unsupported(message: string, remedy: string): RpcHandler {
  return (stream): RpcListener => {
    stream.end(new Fault('unsupported', message, { remedy }));
    return { message() {}, halfClosed() {}, closed() {} };
  };
}
