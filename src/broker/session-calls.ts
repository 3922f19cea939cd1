import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { Fault } from '#core/fault.ts';
import { type Session, type SessionPhase, sessionPhase } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import {
  KillSessionRequestSchema,
  type ListSessionsRequest,
  ListSessionsRequestSchema,
  ListSessionsResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { ExecutionStatus_Status, ExecutionStatusSchema, SessionRequestSchema } from '#wire/gen/velda/session_pb.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { CallerCheck } from './authorize.ts';
import type { RpcMethod } from './method.ts';
import { unary } from './unary.ts';
import { sessionRequestOf } from './velda-request.ts';
import { INSTANCE } from './velda-wire.ts';

export interface SessionCallDeps extends CallerCheck {
  readonly sessions: Pick<Sessions, 'submit' | 'kill'>;
  readonly view: Pick<Store['view'], 'sessions' | 'agents'>;
  durable(): Promise<void>;
}

const STATUSES: Readonly<Record<SessionPhase, ExecutionStatus_Status>> = {
  queued: ExecutionStatus_Status.QUEUEING,
  starting: ExecutionStatus_Status.QUEUEING,
  running: ExecutionStatus_Status.RUNNING,
  unknown: ExecutionStatus_Status.STALE,
  ended: ExecutionStatus_Status.TERMINATED,
};

/** Velda knows no computers: what runs there is for their creators and admins, and is not there for these calls. */
export const isOfPool = ({ use }: Session): boolean => use === undefined;

/** The calls of Velda's command line about sessions. */
export function sessionCalls(deps: SessionCallDeps): Record<string, RpcMethod> {
  const { sessions, view, durable } = deps;
  function shown(session: Session) {
    const agent = session.worker === undefined ? undefined : view.agents.get(session.worker);
    return {
      sessionId: session.id,
      user: session.by,
      pool: session.poolName,
      instanceId: INSTANCE,
      status: STATUSES[sessionPhase(session, agent !== undefined)],
      internalIpAddress: agent?.address ?? '',
    };
  }

  function isAskedFor({ instanceId, serviceName }: ListSessionsRequest): boolean {
    return (instanceId === 0n || instanceId === INSTANCE) && serviceName === '';
  }

  return {
    '/velda.BrokerService/ListSessions': unary(deps, {
      role: 'viewer',
      request: ListSessionsRequestSchema,
      answer: ListSessionsResponseSchema,
      async run(request) {
        await durable();
        return { sessions: isAskedFor(request) ? [...view.sessions.all()].filter(isOfPool).map(shown) : [] };
      },
    }),
    '/velda.BrokerService/KillSession': unary(deps, {
      role: 'operator',
      request: KillSessionRequestSchema,
      answer: EmptySchema,
      async run({ sessionId, force }, actor) {
        if (sessionId === '') {
          throw new Fault('invalid', 'session_id is missing.', { at: 'session_id', remedy: 'Name one session.' });
        }
        const session = view.sessions.get(sessionId);
        if (session && !isOfPool(session))
          throw new Fault('missing', 'There is no such session.', { at: 'session_id' });
        await sessions.kill(sessionId, force, actor);
        return {};
      },
    }),
    '/velda.BrokerService/RequestSession': unary(deps, {
      role: 'operator',
      request: SessionRequestSchema,
      answer: ExecutionStatusSchema,
      async run(request, actor) {
        const [session] = await sessions.submit([sessionRequestOf(request)], actor);
        const id = session?.id ?? '';
        return { sessionId: id, taskId: id, status: ExecutionStatus_Status.QUEUEING };
      },
    }),
  };
}
