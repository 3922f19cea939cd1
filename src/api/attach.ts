import { ATTACH_ROLE, attachTo } from './attachment.ts';
import { checkSessionUse } from './computer-use.ts';
import type { ApiDeps } from './deps.ts';
import { openTurns } from './encoded-output.ts';
import { type SocketEndpoint, wholeNumberIn } from './websockets.ts';

/** `/sessions/ID/attach`: input, window sizes, output and the end of a session. */
export function attachEndpoint(deps: ApiDeps, stopping: AbortSignal): SocketEndpoint {
  const turn = openTurns(deps.clock);
  return {
    path: /^\/api\/v1\/sessions\/([^/]+)\/attach$/,
    role: ATTACH_ROLE,
    async open({ caller, parts: [reference = ''], query }) {
      const session = await deps.sessions.refer(reference, caller);
      await checkSessionUse(deps, session, caller);
      const afterSeq = wholeNumberIn(query, 'after_seq');
      const attempt = wholeNumberIn(query, 'attempt') || undefined;
      return (socket) => attachTo(socket, { caller, session, afterSeq, attempt }, { deps, stopping, turn });
    },
  };
}
