import type { AgentCommand, AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Agent } from '#core/machine.ts';
import type { Store } from '#core/store.ts';
import { type AgentIdentity, type AgentUpdateRequest, AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import { decode } from '#wire/messages.ts';
import { MOST_REPORT_FIELDS } from '#wire/reports.ts';
import type { SharedAlarm } from '#wire/shared-alarm.ts';
import type { Machines } from '../machines/machines.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { ServerFacts, Wire, WireOptions } from './agent-wire.ts';
import type { AgentConnection, Agents } from './agents.ts';
import { bearerOf } from './authorize.ts';
import { canRunAs, readHello } from './hello.ts';
import type { RpcCaller, TwoWayMethod, TwoWayStream } from './method.ts';
import { openMusterWire } from './muster-wire.ts';
import type { RefusalLog } from './refusal-log.ts';
import { grpcStatusOf } from './status.ts';
import type { UnprovenCalls } from './unproven-calls.ts';
import type { VeldaOutput } from './velda-output.ts';
import { openVeldaWire } from './velda-wire.ts';

const FIRST_MESSAGE_MS = 10_000;
// If the agent has not closed an ended stream by then, its connection is dropped.
const END_WITHIN_MS = 5_000;

/** One object, shared by all agents. */
export interface AgentStreamDeps {
  readonly machines: Pick<Machines, 'join' | 'leave'>;
  readonly sessions: Pick<Sessions, 'agentJoined' | 'report'>;
  readonly view: Pick<Store['view'], 'sessions'>;
  readonly agents: Agents;
  readonly output: VeldaOutput;
  readonly refused: RefusalLog;
  readonly unproven: UnprovenCalls;
  /** Whether a credential of this server proves the caller, before it has named its pool; joining checks it. */
  knows(proof: JoinProof): boolean;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly log: Log;
  readonly later: SharedAlarm;
}

const proofOf = (caller: RpcCaller): JoinProof => ({
  peerAddress: caller.peerAddress,
  token: bearerOf(caller),
  key: caller.header('x-muster-agent-key'),
  certificateName: caller.certificateName,
});

const nothing = (): void => {};

/** A call as it was admitted. */
interface Arrival {
  readonly caller: RpcCaller;
  readonly proof: JoinProof;
  /** It no longer counts as one whose caller is unknown. */
  leaveUnproven(): void;
}

/** A class, since there is one for each agent: closures would take several times its memory. */
class AgentStream implements AgentConnection, WireOptions {
  readonly #call: TwoWayStream;
  readonly #deps: AgentStreamDeps;
  readonly #caller: RpcCaller;
  readonly #proof: JoinProof;
  readonly #leaveUnproven: () => void;
  #phase: 'waiting' | 'joining' | 'open' | 'over' = 'waiting';
  #isClosed = false;
  #agent: Agent | undefined;
  #wire: Wire | undefined;
  // Waits for the first message, later for the agent to close an ended stream.
  #cancelAlarm = nothing;

  constructor(call: TwoWayStream, { caller, proof, leaveUnproven }: Arrival, deps: AgentStreamDeps) {
    this.#call = call;
    this.#deps = deps;
    this.#caller = caller;
    this.#proof = proof;
    this.#leaveUnproven = leaveUnproven;
    const why = `The agent sent no first message within ${FIRST_MESSAGE_MS / 1_000} s.`;
    this.#setAlarm(FIRST_MESSAGE_MS, () => this.end(new Fault('invalid', why, { at: 'agent_identity' })));
    call.on('data', (bytes: Buffer) => this.#receive(bytes));
    call.once('end', () => this.#halfClosed());
    call.once('close', () => this.#closed());
  }

  get server(): ServerFacts {
    return this.#deps.server;
  }

  get clock(): Clock {
    return this.#deps.clock;
  }

  get log(): Log {
    return this.#deps.log;
  }

  get later(): SharedAlarm {
    return this.#deps.later;
  }

  get name(): string {
    return this.#agent?.id ?? '';
  }

  get epoch(): number {
    return this.#agent?.epoch ?? 0;
  }

  get peerAddress(): string {
    return this.#proof.peerAddress;
  }

  get key(): string | undefined {
    return this.#proof.key;
  }

  get waitingBytes(): number {
    return this.#wire?.waitingBytes ?? 0;
  }

  write(message: Uint8Array, written: () => void): void {
    this.#call.write(message, (error?: Error | null) => {
      if (!error) written();
    });
  }

  send(command: AgentCommand): void {
    this.#wire?.send(command);
  }

  report(report: AgentReport): void {
    this.#deps.sessions.report(this.name, report);
  }

  fail(fault: Fault): void {
    this.end(fault);
  }

  end(fault?: Fault): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#setAlarm();
    this.#wire?.close();
    this.#leaveUnproven();
    this.#deps.agents.remove(this);
    if (fault) this.#call.emit('error', grpcStatusOf(fault));
    else this.#call.end();
    if (!this.#isClosed) this.#setAlarm(END_WITHIN_MS, () => this.#caller.cut());
  }

  #receive(bytes: Uint8Array): void {
    if (this.#phase === 'over') return;
    try {
      if (this.#phase === 'open') this.#wire?.receive(decode(AgentUpdateRequestSchema, bytes, MOST_REPORT_FIELDS));
      else this.#takeFirst(bytes);
    } catch (thrown) {
      this.#refuse(thrown);
    }
  }

  // A lost connection looks the same at first; then the answer is dropped, and the call closes.
  #halfClosed(): void {
    const why = 'The agent ended the stream before its first message.';
    this.end(this.#agent ? undefined : new Fault('invalid', why, { at: 'agent_identity' }));
  }

  #closed(): void {
    const { machines, agents, output, log } = this.#deps;
    this.#isClosed = true;
    this.#phase = 'over';
    this.#setAlarm();
    this.#leaveUnproven();
    if (!this.#agent) return;
    const { id, epoch } = this.#agent;
    this.#wire?.close();
    agents.remove(this);
    machines.leave(id, epoch);
    output.sweep();
    log('info', 'agent disconnected', { agent: id, epoch });
  }

  /** Replaces the one alarm; without arguments it only cancels it. */
  #setAlarm(afterMs?: number, ring = nothing): void {
    this.#cancelAlarm();
    this.#cancelAlarm = afterMs === undefined ? nothing : this.clock.alarm(afterMs, ring);
  }

  #takeFirst(bytes: Uint8Array): void {
    const message = decode(AgentUpdateRequestSchema, bytes);
    this.#phase = 'joining';
    this.#setAlarm();
    this.#call.pause();
    this.#join(message)
      .catch((thrown) => this.#refuse(thrown, message.agentIdentity))
      .finally(() => this.#call.resume());
  }

  #refuse(thrown: unknown, identity?: AgentIdentity): void {
    const fault = Fault.from(thrown);
    const name = this.#agent?.id ?? identity?.agentId;
    this.#deps.refused({ name, pool: identity?.pool, from: this.peerAddress }, fault);
    this.end(fault);
  }

  #wireFor({ wire, executions, slots }: Hello, first: AgentUpdateRequest): Wire {
    if (wire === 'muster') return openMusterWire(this, canRunAs(first));
    const { server, clock, log, later } = this;
    const { view, output } = this.#deps;
    const attemptNow = (session: string): number | undefined => view.sessions.get(session)?.attempt;
    const write: WireOptions['write'] = (message, written) => this.write(message, written);
    const report = (report: AgentReport): void => this.report(report);
    const fail = (fault: Fault): void => this.end(fault);
    const { lastSeq } = output;
    return openVeldaWire({ write, server, clock, log, later, report, fail, executions, slots, attemptNow, lastSeq });
  }

  async #join(message: AgentUpdateRequest): Promise<void> {
    const { machines, sessions, agents, view, log } = this.#deps;
    const { peerAddress } = this;
    const hello = readHello(message, peerAddress, (session) => view.sessions.get(session)?.attempt);
    const agent = await machines.join(hello, this.#proof);
    this.#leaveUnproven();
    this.#agent = agent;
    if (this.#phase === 'over' || !agents.admit(this)) {
      this.#agent = undefined;
      machines.leave(agent.id, agent.epoch);
      return this.end(new Fault('conflict', 'This agent already has a newer connection.'));
    }
    this.#caller.proved();
    const wire = this.#wireFor(hello, message);
    this.#wire = wire;
    this.#phase = 'open';
    log('info', 'agent connected', {
      agent: agent.id,
      pool: hello.pool,
      epoch: agent.epoch,
      wire: hello.wire,
      version: hello.version,
      from: peerAddress,
      executions: hello.executions.length,
    });
    wire.greet();
    sessions.agentJoined(agent.id, hello.executions);
    wire.receive(message);
  }
}

/** Connections of agents: first the identity of each, then its reports, until the stream ends. */
export function agentUpdate(deps: AgentStreamDeps): TwoWayMethod {
  const { knows, unproven } = deps;
  return {
    type: 'bidi',
    admit(caller) {
      const proof = proofOf(caller);
      const leaveUnproven = knows(proof) ? nothing : unproven.enter(proof.peerAddress);
      return (call) => void new AgentStream(call, { caller, proof, leaveUnproven }, deps);
    },
  };
}
