import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { SessionsDeps } from './deps.ts';

/** Input of one session, in bytes since it started. */
interface Flow {
  sentBytes: number;
  takenBytes: number | undefined;
}

/** Passes input and terminal sizes on to the agent of a running session. */
export function openInputRelay({ store, link }: SessionsDeps) {
  const { view } = store;
  // By session. An agent that tells how much it has taken gets no more than a window; one that does not is sent all.
  const flows = new Map<string, Flow>();

  // What was under way when a connection broke may be lost: then the agent never takes it.
  const unsubscribe = store.onChange('agents', (after, before, id) => {
    if (after?.epoch === before?.epoch || flows.size === 0) return;
    for (const session of view.sessions.by('worker', id)) flows.delete(session.id);
  });

  function count(id: string, bytes: number): void {
    const flow = flows.get(id) ?? { sentBytes: 0, takenBytes: undefined };
    flow.sentBytes += bytes;
    flows.set(id, flow);
  }

  function untakenBytes(id: string): number {
    const flow = flows.get(id);
    return flow?.takenBytes === undefined ? 0 : Math.max(0, flow.sentBytes - flow.takenBytes);
  }

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
      count(id, data.length);
    },
    inputWaitingBytes: (id: string): number =>
      (link.waitingBytes?.(view.sessions.get(id)?.worker ?? '') ?? 0) + untakenBytes(id),
    inputTaken(id: string, bytes: number): void {
      const flow = flows.get(id);
      if (flow) flow.takenBytes = bytes;
      else flows.set(id, { sentBytes: bytes, takenBytes: bytes });
    },
    forgetInput: (id: string): void => void flows.delete(id),
    stopInput: unsubscribe,
    resize(id: string, columns: number, rows: number): void {
      const session = running(id);
      if (!session.spec.terminal)
        throw new Fault('conflict', 'The session has no terminal.', { remedy: 'Start it with a terminal.' });
      pass(session, { do: 'resize', session: id, columns, rows });
    },
  };
}
