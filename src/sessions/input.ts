import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { SessionsDeps } from './deps.ts';

/** Passes input and terminal sizes on to the agent of a running session. */
export function openInputRelay({ store: { view }, link }: SessionsDeps) {
  function running(id: string): Session {
    const session = view.sessions.get(id);
    if (!session)
      throw new Fault('missing', `No session "${id}" is running.`, {
        remedy: 'List sessions with `muster session ls`.',
      });
    return session;
  }

  function pass(session: Session, command: AgentCommand): void {
    const isRunning = session.worker !== undefined && session.startedAt !== undefined;
    if (isRunning && link.send(session.worker ?? '', command)) return;
    const message = isRunning ? 'The agent of the session is disconnected.' : 'The session has not started yet.';
    throw new Fault('unavailable', message, { remedy: 'Send it again when the session is running.' });
  }

  return {
    input(id: string, data: Uint8Array, isLast: boolean): void {
      const session = running(id);
      if (!session.spec.stdin && !session.spec.terminal)
        throw new Fault('conflict', 'The session has no input.', { remedy: 'Start it with stdin open or a terminal.' });
      pass(session, { do: 'input', session: id, data, isLast });
    },
    inputWaitingBytes: (id: string): number => link.waitingBytes?.(view.sessions.get(id)?.worker ?? '') ?? 0,
    resize(id: string, columns: number, rows: number): void {
      const session = running(id);
      if (!session.spec.terminal)
        throw new Fault('conflict', 'The session has no terminal.', { remedy: 'Start it with a terminal.' });
      pass(session, { do: 'resize', session: id, columns, rows });
    },
  };
}
