import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { Tunnel, TunnelEnd } from '#core/tunnel.ts';
import type { SessionsDeps } from './deps.ts';
import { hasMachine } from './owner.ts';

/** Opens tunnels to machines themselves: whose they are has been checked. */
export function machineTunnelOpener({ store: { view }, link }: Pick<SessionsDeps, 'store' | 'link'>) {
  return async (machine: string, to: TunnelEnd, signal: AbortSignal): Promise<Tunnel> => {
    if (!view.agents.get(machine)) throw new Fault('unavailable', `The agent of machine ${machine} is disconnected.`);
    if (link.openTunnel) return link.openTunnel({ agent: machine, attempt: 0, to }, signal);
    throw new Fault('unsupported', 'This server opens no tunnels.');
  };
}

/** Opens tunnels to the workers of sessions: to all of a running one, and to the files of an ended one while its worker has them. */
export function tunnelOpener({ store, link }: Pick<SessionsDeps, 'store' | 'link'>) {
  const { view, history } = store;

  function checkPhase({ id, worker, startedAt, end }: Session, to: TunnelEnd): void {
    if (end && !('read' in to))
      throw new Fault('conflict', `Session ${id} has ended.`, { remedy: 'Start it again with `muster run`.' });
    if (end && worker === undefined) throw new Fault('missing', `Session ${id} never ran, so it has no files.`);
    if (!end && (worker === undefined || startedAt === undefined))
      throw new Fault('unavailable', `Session ${id} has not started yet.`, {
        remedy: 'Wait until it runs: `muster session show` says what it waits for.',
      });
  }

  /** The agent is not connected: for an ended session, since when the files are gone with their machine. */
  async function whyNoAgent({ id, worker = '', end }: Session): Promise<Fault> {
    const [machine] = await history.endedMachines({ machine: worker }, { limit: 1, order: 'newest first' });
    if (!end || !machine || hasMachine(store, worker))
      return new Fault('unavailable', `The agent of worker ${worker} is disconnected.`, {
        remedy: 'Try again when `muster worker ls` shows the worker as ready.',
      });
    const since = new Date(machine.endedAt).toISOString();
    return new Fault('missing', `The files of session ${id} are gone since ${since}: worker ${worker} was removed.`, {
      remedy: 'Copy files while the session runs, or let the command write to a place that stays.',
    });
  }

  return async (session: Session, to: TunnelEnd, signal: AbortSignal): Promise<Tunnel> => {
    checkPhase(session, to);
    const { id, worker: agent = '', attempt } = session;
    if (!view.agents.get(agent)) throw await whyNoAgent(session);
    if (link.openTunnel) return link.openTunnel({ agent, session: id, attempt, to }, signal);
    throw new Fault('unsupported', 'This server opens no tunnels.');
  };
}
