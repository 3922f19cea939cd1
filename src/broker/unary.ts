import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Role } from '#core/access.ts';
import type { Actor } from '#core/journal.ts';
import { decode, encode } from '#wire/messages.ts';
import { authorized, type CallerCheck } from './authorize.ts';
import type { UnaryMethod } from './method.ts';

interface Exchange<Request extends DescMessage, Answer extends DescMessage> {
  /** The least role that may call. */
  readonly role: Role;
  readonly request: Request;
  readonly answer: Answer;
  run(request: MessageShape<Request>, actor: Actor): Promise<MessageInitShape<Answer>>;
}

/** A method with one message each way. */
export function unary<Request extends DescMessage, Answer extends DescMessage>(
  { authorize }: CallerCheck,
  { role, request, answer, run }: Exchange<Request, Answer>,
): UnaryMethod {
  return {
    type: 'unary',
    async admit(caller) {
      const actor = await authorized(authorize, caller, role);
      return async (bytes) => encode(answer, await run(decode(request, bytes), actor));
    },
  };
}
