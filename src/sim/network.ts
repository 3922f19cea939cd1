// The streams between agents and the server: each delivers in order, late, or not at all once it is cut.
import type { AgentCommand, AgentLink, AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Agent } from '#core/machine.ts';
import type { SimAgent, Wire } from './agent.ts';
import type { Chance } from './chance.ts';

/** The server's side of the streams, as the broker uses it. */
export interface AgentListener {
  join(hello: Hello, proof: JoinProof): Promise<Agent>;
  leave(name: string, epoch: number): void;
  agentJoined(name: string, executions: Hello['executions']): void;
  report(agent: string, report: AgentReport): void;
}

export interface Network extends AgentLink {
  dial(agent: SimAgent): void;
  /** No server listens, as after a crash. */
  shut(): void;
  open(listener: AgentListener): void;
  /** Nothing passes to or from that agent for so long, or until its connection is restored; each side finds out in its own time. */
  cut(agent: SimAgent, ms?: number): void;
  /** The cut of that agent ends now; absent: all cuts. */
  restore(agent?: SimAgent): void;
  /** The machine of that agent is gone; the server may take a while to notice. */
  drop(agent: SimAgent): void;
}

export interface NetworkOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  /** One way, for each connection between nothing and this. */
  readonly mostLatencyMs: number;
  /** How long each side takes at most to notice a cut. */
  readonly noticedWithinMs?: number | undefined;
}

/** An agent that asks to join. */
interface Joining {
  readonly agent: SimAgent;
  readonly called: AgentListener;
  readonly latencyMs: number;
  readonly hello: Hello;
}

interface Connection extends Wire {
  readonly agent: SimAgent;
  readonly listener: AgentListener;
  readonly joined: Agent;
  readonly latencyMs: number;
  /** Nothing passes any more, whether or not anyone has noticed. */
  isCut: boolean;
  isClosedHere: boolean;
  toAgent: AgentCommand[] | undefined;
  toServer: AgentReport[] | undefined;
}

const REFUSED_AFTER_MS = 50;
const CUT_OFF_AFTER_MS = 5_000;

export function openNetwork(options: NetworkOptions): Network {
  const { clock, chance, mostLatencyMs, noticedWithinMs = 30_000 } = options;
  const byName = new Map<string, Connection>();
  const newest = new WeakMap<SimAgent, Connection>();
  const asking = new Set<Joining>();
  const cutUntilMs = new Map<SimAgent, number>();
  // They call while they are cut off for no fixed time, and get through when that ends.
  const held = new Set<SimAgent>();
  let listener: AgentListener | undefined;

  const isCutOff = (agent: SimAgent): boolean => (cutUntilMs.get(agent) ?? 0) > clock.monotonic();

  function failLater(agent: SimAgent, afterMs: number): void {
    clock.alarm(afterMs, () => agent.refused('unavailable'));
  }

  function dial(agent: SimAgent): void {
    if (agent.isOver) return;
    if (cutUntilMs.get(agent) === Number.POSITIVE_INFINITY) return void held.add(agent);
    if (isCutOff(agent)) return failLater(agent, CUT_OFF_AFTER_MS);
    if (!listener) return failLater(agent, REFUSED_AFTER_MS);
    const joining: Joining = { agent, called: listener, latencyMs: chance.ms(0, mostLatencyMs), hello: agent.hello() };
    asking.add(joining);
    clock.alarm(joining.latencyMs, () => {
      if (!asking.has(joining)) return;
      joining.called.join(joining.hello, agent.proof()).then(
        (joined) => asking.delete(joining) && admit(joining, joined),
        (thrown) => asking.delete(joining) && agent.refused(Fault.from(thrown).kind),
      );
    });
  }

  function admit({ agent, called, latencyMs, hello }: Joining, joined: Agent): void {
    if (agent.isOver || isCutOff(agent)) {
      called.leave(joined.id, joined.epoch);
      return failLater(agent, REFUSED_AFTER_MS);
    }
    const connection = connect({ agent, called, latencyMs }, joined);
    const older = byName.get(joined.id);
    if (older) older.isCut = true;
    byName.set(joined.id, connection);
    newest.set(agent, connection);
    clock.alarm(latencyMs, () => {
      if (agent.isOver) return connection.close();
      if (connection.isCut) agent.refused('unavailable');
      else agent.accepted(connection);
    });
    called.agentJoined(joined.id, hello.executions);
  }

  function connect({ agent, called, latencyMs }: Omit<Joining, 'hello'>, joined: Agent): Connection {
    const connection: Connection = {
      agent,
      listener: called,
      joined,
      latencyMs,
      isCut: false,
      isClosedHere: false,
      toAgent: undefined,
      toServer: undefined,
      report(report) {
        if (connection.isCut) return;
        if (connection.toServer) return void connection.toServer.push(report);
        connection.toServer = [report];
        clock.alarm(latencyMs, () => bring(connection));
      },
      close() {
        connection.isCut = true;
        closeHere(connection);
      },
    };
    return connection;
  }

  function bring(connection: Connection): void {
    const reports = connection.toServer ?? [];
    connection.toServer = undefined;
    for (const report of reports) {
      if (connection.isCut || connection.listener !== listener) return;
      connection.listener.report(connection.joined.id, report);
    }
  }

  function hand(connection: Connection): void {
    const commands = connection.toAgent ?? [];
    connection.toAgent = undefined;
    for (const command of commands) {
      if (connection.isCut) return;
      connection.agent.hear(command);
    }
  }

  /** The server has noticed. */
  function closeHere(connection: Connection): void {
    const { joined } = connection;
    if (connection.isClosedHere) return;
    connection.isClosedHere = true;
    if (byName.get(joined.id) === connection) byName.delete(joined.id);
    if (connection.listener === listener) connection.listener.leave(joined.id, joined.epoch);
  }

  function sever(connection: Connection, withinMs: number): void {
    connection.isCut = true;
    clock.alarm(chance.ms(0, withinMs), () => closeHere(connection));
    clock.alarm(chance.ms(0, withinMs), () => connection.agent.lost(connection, 'unavailable'));
  }

  function of(agent: SimAgent): Connection | undefined {
    const found = newest.get(agent);
    return found && byName.get(found.joined.id) === found ? found : undefined;
  }

  return {
    dial,
    shut() {
      listener = undefined;
      for (const connection of byName.values()) {
        connection.isClosedHere = true;
        sever(connection, 1_000);
      }
      byName.clear();
      // A dead server does not answer; clients find the connection reset.
      for (const { agent } of asking) failLater(agent, REFUSED_AFTER_MS);
      asking.clear();
    },
    open: (opened) => {
      listener = opened;
    },
    cut(agent, ms = Number.POSITIVE_INFINITY) {
      cutUntilMs.set(agent, clock.monotonic() + ms);
      const connection = of(agent);
      if (!connection || connection.isCut) return;
      sever(connection, noticedWithinMs);
      // A server that notices at once does so before anything else happens to it.
      if (noticedWithinMs === 0) closeHere(connection);
    },
    restore(agent) {
      for (const each of agent ? [agent] : [...cutUntilMs.keys()]) {
        cutUntilMs.delete(each);
        if (held.delete(each)) dial(each);
      }
    },
    drop(agent) {
      cutUntilMs.delete(agent);
      const connection = of(agent);
      if (connection && !connection.isCut) sever(connection, chance.happens(0.5) ? 0 : noticedWithinMs);
    },
    send(name, command) {
      const connection = byName.get(name);
      if (!connection) return false;
      if (connection.isCut) return true;
      if (connection.toAgent) connection.toAgent.push(command);
      else {
        connection.toAgent = [command];
        clock.alarm(connection.latencyMs, () => hand(connection));
      }
      return true;
    },
    dismiss(name) {
      const connection = byName.get(name);
      if (!connection) return;
      closeHere(connection);
      clock.alarm(connection.latencyMs, () => {
        if (connection.isCut) return;
        connection.isCut = true;
        connection.agent.lost(connection, 'denied');
      });
    },
  };
}
