// The streams between agents and the server: each delivers in order, late, or not at all once it is cut.
import type { AgentCommand, AgentLink, AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Agent } from '#core/machine.ts';
import type { SimAgent, Wire } from './agent.ts';
import type { Chance } from './chance.ts';

/** The server's side, as the broker uses it. */
export interface Door {
  join(hello: Hello, proof: JoinProof): Promise<Agent>;
  leave(name: string, epoch: number): void;
  agentJoined(name: string, executions: Hello['executions']): void;
  report(agent: string, report: AgentReport): void;
}

export interface Network extends AgentLink {
  dial(agent: SimAgent): void;
  /** No server listens, as after a crash. */
  shut(): void;
  open(door: Door): void;
  /** Nothing passes to or from that agent for so long; each side finds out in its own time. */
  cut(agent: SimAgent, ms: number): void;
  /** All cuts end now. */
  mend(): void;
  /** The machine of that agent is gone; the server may take a while to notice. */
  drop(agent: SimAgent): void;
}

export interface NetworkOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  /** One way, for each connection between nothing and this. */
  readonly mostLatencyMs: number;
}

/** An agent at the door. */
interface Knock {
  readonly agent: SimAgent;
  readonly called: Door;
  readonly latencyMs: number;
  readonly hello: Hello;
}

interface Connection extends Wire {
  readonly agent: SimAgent;
  readonly door: Door;
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
const NOTICED_WITHIN_MS = 30_000;

export function openNetwork({ clock, chance, mostLatencyMs }: NetworkOptions): Network {
  const byName = new Map<string, Connection>();
  const knocking = new Set<Knock>();
  const cutUntilMs = new Map<SimAgent, number>();
  let door: Door | undefined;

  const isCutOff = (agent: SimAgent): boolean => (cutUntilMs.get(agent) ?? 0) > clock.monotonic();

  function failLater(agent: SimAgent, afterMs: number): void {
    clock.alarm(afterMs, () => agent.refused('unavailable'));
  }

  function dial(agent: SimAgent): void {
    if (agent.isOver) return;
    if (isCutOff(agent)) return failLater(agent, CUT_OFF_AFTER_MS);
    if (!door) return failLater(agent, REFUSED_AFTER_MS);
    const knock: Knock = { agent, called: door, latencyMs: chance.ms(0, mostLatencyMs), hello: agent.hello() };
    knocking.add(knock);
    clock.alarm(knock.latencyMs, () => {
      if (!knocking.has(knock)) return;
      knock.called.join(knock.hello, agent.proof()).then(
        (joined) => knocking.delete(knock) && admit(knock, joined),
        (thrown) => knocking.delete(knock) && agent.refused(Fault.from(thrown).kind),
      );
    });
  }

  function admit({ agent, called, latencyMs, hello }: Knock, joined: Agent): void {
    if (agent.isOver || isCutOff(agent)) {
      called.leave(joined.id, joined.epoch);
      return failLater(agent, REFUSED_AFTER_MS);
    }
    const connection = connect({ agent, called, latencyMs }, joined);
    const older = byName.get(joined.id);
    if (older) older.isCut = true;
    byName.set(joined.id, connection);
    clock.alarm(latencyMs, () => {
      if (agent.isOver) return connection.close();
      if (connection.isCut) agent.refused('unavailable');
      else agent.accepted(connection);
    });
    called.agentJoined(joined.id, hello.executions);
  }

  function connect({ agent, called, latencyMs }: Omit<Knock, 'hello'>, joined: Agent): Connection {
    const connection: Connection = {
      agent,
      door: called,
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
      if (connection.isCut || connection.door !== door) return;
      connection.door.report(connection.joined.id, report);
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
    if (connection.door === door) connection.door.leave(joined.id, joined.epoch);
  }

  function sever(connection: Connection, kind: FaultKind, noticedWithinMs: number): void {
    connection.isCut = true;
    clock.alarm(chance.ms(0, noticedWithinMs), () => closeHere(connection));
    clock.alarm(chance.ms(0, noticedWithinMs), () => connection.agent.lost(connection, kind));
  }

  function of(agent: SimAgent): Connection | undefined {
    const found = byName.get(agent.name);
    return found?.agent === agent ? found : undefined;
  }

  return {
    dial,
    shut() {
      door = undefined;
      for (const connection of byName.values()) {
        connection.isClosedHere = true;
        sever(connection, 'unavailable', 1_000);
      }
      byName.clear();
      // A dead server does not answer; clients find the connection reset.
      for (const { agent } of knocking) failLater(agent, REFUSED_AFTER_MS);
      knocking.clear();
    },
    open: (opened) => {
      door = opened;
    },
    cut(agent, ms) {
      cutUntilMs.set(agent, clock.monotonic() + ms);
      const connection = of(agent);
      if (connection && !connection.isCut) sever(connection, 'unavailable', NOTICED_WITHIN_MS);
    },
    mend: () => cutUntilMs.clear(),
    drop(agent) {
      cutUntilMs.delete(agent);
      const connection = of(agent);
      if (connection && !connection.isCut)
        sever(connection, 'unavailable', chance.happens(0.5) ? 0 : NOTICED_WITHIN_MS);
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
