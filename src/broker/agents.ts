import type { AgentCommand, AgentLink } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';

/** One agent's open stream. */
export interface AgentConnection {
  readonly name: string;
  readonly epoch: number;
  readonly peerAddress: string;
  /** The agent's own key, as this connection shows it. */
  readonly key: string | undefined;
  send(command: AgentCommand): void;
  readonly waitingBytes: number;
  /** Ends the stream with status OK, or with the status of a fault. */
  end(fault?: Fault): void;
}

/** The streams of all connected agents, one for each name. */
export interface Agents extends AgentLink {
  /** Keeps the newest connection of a name; false if this one is older. */
  admit(connection: AgentConnection): boolean;
  /** Removes this connection, unless a newer one has replaced it. */
  remove(connection: AgentConnection): void;
  get(name: string): AgentConnection | undefined;
  all(): Iterable<AgentConnection>;
  readonly size: number;
}

const supersededBy = 'A newer connection of this agent replaced this one.';

export function createAgents(): Agents {
  const byName = new Map<string, AgentConnection>();
  return {
    admit(connection) {
      const other = byName.get(connection.name);
      if (other && other.epoch > connection.epoch) return false;
      byName.set(connection.name, connection);
      other?.end(
        new Fault('conflict', supersededBy, { remedy: 'Make sure that only one agent runs under this name.' }),
      );
      return true;
    },
    remove(connection) {
      if (byName.get(connection.name) === connection) byName.delete(connection.name);
    },
    send(name, command) {
      const connection = byName.get(name);
      connection?.send(command);
      return connection !== undefined;
    },
    waitingBytes: (name) => byName.get(name)?.waitingBytes ?? 0,
    dismiss(name, why) {
      const connection = byName.get(name);
      if (!connection) return;
      byName.delete(name);
      connection.end(new Fault('denied', why));
    },
    get: (name) => byName.get(name),
    all: () => byName.values(),
    get size() {
      return byName.size;
    },
  };
}

/** A link that exists before the broker; until the broker is attached no agent is connected. */
export interface LateAgentLink extends AgentLink {
  attach(link: AgentLink): void;
}

export function createAgentLink(): LateAgentLink {
  let attached: AgentLink | undefined;
  return {
    attach(link) {
      attached = link;
    },
    send: (agent, command) => attached?.send(agent, command) ?? false,
    waitingBytes: (agent) => attached?.waitingBytes?.(agent) ?? 0,
    dismiss: (agent, why) => attached?.dismiss(agent, why),
    async openTunnel(request, signal) {
      if (attached?.openTunnel) return attached.openTunnel(request, signal);
      throw new Fault('unavailable', 'No agent is connected yet.');
    },
  };
}
