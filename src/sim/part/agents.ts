// Agents of simulated machines: they join by themselves, keep results while disconnected, and end with their machine.
import type { AgentCommand, AgentLink, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Agent } from '#core/machine.ts';
import type { SimCloud, SimMachine } from '../backend.ts';

/** What an agent needs of the process that it is connected to. */
export interface Broker {
  join(hello: ReturnType<typeof helloOf>, proof: JoinProof): Promise<Agent>;
  leave(name: string, epoch: number): void;
  /** An agent is in: what it runs, and what it has finished. */
  joined(agent: string, running: readonly string[], finished: readonly string[]): void;
  finished(agent: string, session: string): void;
}

export interface SimAgent {
  readonly name: string;
  readonly pool: string;
  readonly made: SimMachine;
  readonly key: string;
  slots: number;
  connection?: { readonly broker: Broker; readonly agent: Agent } | undefined;
  /** Sessions by the time they end. */
  readonly running: Map<string, number>;
  /** Finished, and not yet known to be heard. */
  readonly finished: Set<string>;
  isCutOff: boolean;
  isDead: boolean;
}

export interface SimAgents extends AgentLink {
  readonly all: ReadonlyMap<string, SimAgent>;
  /** How often each session was started on any machine. */
  readonly runs: ReadonlyMap<string, number>;
  /** Machines that were deleted by us while a session ran on them. */
  readonly kills: readonly string[];
  /** The server that agents call; undefined while none listens. */
  connectTo(broker: Broker | undefined): void;
  /** Names the agent, since a machine may carry one that its cloud chose. */
  start(agent: string, session: string, durationMs: number): void;
  /** Its end is durable: the agent may forget it. */
  ack(agent: string, session: string): void;
  cutOff(agents: readonly string[], isCutOff: boolean): void;
}

export interface SimAgentsOptions {
  readonly clock: Clock;
  readonly cloud: Pick<SimCloud, 'onBoot' | 'onGone'>;
  readonly slots: number;
  poolName(id: string): string;
  /** False for a machine whose agent never starts. */
  doesBoot?(made: SimMachine): boolean;
}

const RETRY_MS = 1_000;

function helloOf(agent: SimAgent) {
  const executions = [...agent.running.keys(), ...agent.finished].map((session) => ({ session, attempt: 1 }));
  const { name, pool, slots } = agent;
  const about = { labels: {}, wire: 'muster', version: '1', hostname: name, address: '10.0.0.1' } as const;
  return { name, pool, slots, executions, ...about };
}

export function simAgents({ clock, cloud, slots, poolName, doesBoot = () => true }: SimAgentsOptions): SimAgents {
  const all = new Map<string, SimAgent>();
  const runs = new Map<string, number>();
  const kills: string[] = [];
  let broker: Broker | undefined;

  cloud.onBoot((made) => {
    if (!made.launch || !doesBoot(made)) return;
    const agent: SimAgent = {
      name: made.machine.name,
      pool: poolName(made.launch.mark.owner),
      made,
      key: `key of ${made.machine.name}`,
      slots,
      running: new Map(),
      finished: new Set(),
      isCutOff: false,
      isDead: false,
    };
    all.set(agent.name, agent);
    knock(agent);
  });
  cloud.onGone((made, how) => {
    const agent = all.get(made.machine.name);
    if (!agent) return;
    if (how !== 'died' && agent.running.size > 0) kills.push(agent.name);
    agent.isDead = true;
    all.delete(agent.name);
    disconnect(agent);
  });

  function knock(agent: SimAgent): void {
    if (agent.isDead || agent.isCutOff || agent.connection || !broker) return;
    const called = broker;
    const proof = { peerAddress: '10.0.0.1', token: agent.made.launch?.boot.token, key: agent.key };
    called.join(helloOf(agent), proof).then(
      (joined) => {
        if (called !== broker || agent.isDead || agent.isCutOff) return called.leave(joined.id, joined.epoch);
        agent.connection = { broker: called, agent: joined };
        called.joined(joined.id, [...agent.running.keys()], [...agent.finished]);
      },
      () => void clock.alarm(RETRY_MS, () => knock(agent)),
    );
  }

  function disconnect(agent: SimAgent): void {
    const { connection } = agent;
    agent.connection = undefined;
    connection?.broker.leave(connection.agent.id, connection.agent.epoch);
  }

  function byWorker(worker: string): SimAgent | undefined {
    const direct = all.get(worker);
    if (direct) return direct;
    for (const agent of all.values()) if (agent.connection?.agent.id === worker) return agent;
    return undefined;
  }

  function finish(agent: SimAgent, session: string): void {
    if (agent.isDead || !agent.running.delete(session)) return;
    agent.finished.add(session);
    agent.connection?.broker.finished(agent.connection.agent.id, session);
  }

  function obey(agent: SimAgent, command: AgentCommand): void {
    if (command.do !== 'drain' || !command.stop || agent.running.size > 0) return;
    agent.isDead = true;
    disconnect(agent);
  }

  return {
    all,
    runs,
    kills,
    connectTo(next) {
      broker = next;
      for (const agent of all.values()) {
        agent.connection = undefined;
        if (next) clock.alarm(RETRY_MS, () => knock(agent));
      }
    },
    start(worker, session, durationMs) {
      const agent = byWorker(worker);
      if (!agent?.connection || agent.running.has(session) || agent.finished.has(session)) return;
      runs.set(session, (runs.get(session) ?? 0) + 1);
      agent.running.set(session, clock.monotonic() + durationMs);
      clock.alarm(durationMs, () => finish(agent, session));
    },
    ack: (worker, session) => void byWorker(worker)?.finished.delete(session),
    cutOff(names, isCutOff) {
      for (const name of names) {
        const agent = all.get(name);
        if (!agent) continue;
        agent.isCutOff = isCutOff;
        if (isCutOff) disconnect(agent);
        else knock(agent);
      }
    },
    send(worker, command) {
      const agent = byWorker(worker);
      if (!agent?.connection) return false;
      obey(agent, command);
      return true;
    },
    dismiss(worker) {
      const agent = byWorker(worker);
      if (agent) disconnect(agent);
      if (agent && !agent.isDead) clock.alarm(RETRY_MS, () => knock(agent));
    },
  };
}
