import type { AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Store } from '#core/store.ts';
import type { Agent } from '#core/worker.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Workers } from '../workers/workers.ts';
import type { Agents, Connection } from './agents.ts';
import { bearerOf } from './authorize.ts';
import { decode } from './codec.ts';
import { type AgentUpdateRequest, AgentUpdateRequestSchema } from './gen/velda/broker_pb.ts';
import { helloOf } from './hello.ts';
import { openMusterWire } from './muster-wire.ts';
import type { Caller, Listener, Stream } from './transport.ts';
import type { VeldaOutput } from './velda-output.ts';
import { openVeldaWire } from './velda-wire.ts';
import type { ServerWords, Wire } from './wire.ts';

const FIRST_MESSAGE_MS = 10_000;
// An ended stream is dropped with its connection when the agent has not taken notice by then.
const FAREWELL_MS = 5_000;

export interface AgentStreamDeps {
  readonly workers: Pick<Workers, 'join' | 'leave'>;
  readonly sessions: Pick<Sessions, 'agentJoined' | 'report'>;
  readonly view: Pick<Store['view'], 'sessions'>;
  readonly agents: Agents;
  readonly output: VeldaOutput;
  readonly server: ServerWords;
  readonly clock: Clock;
  readonly log: Log;
}

const proofOf = (caller: Caller): JoinProof => ({
  peerAddress: caller.peerAddress,
  token: bearerOf(caller),
  key: caller.header('x-muster-agent-key'),
  certificateName: caller.certificateName,
});

/** One connection of an agent: first who it is, then what it reports, until its stream ends. */
export function serveAgent(stream: Stream, deps: AgentStreamDeps): Listener {
  const { workers, sessions, agents, clock, log, server } = deps;
  let phase: 'waiting' | 'joining' | 'open' | 'over' = 'waiting';
  let joined: { readonly agent: Agent; readonly connection: Connection; readonly wire: Wire } | undefined;
  let isClosed = false;
  let cancelCut = (): void => {};
  const cancelWait = clock.alarm(FIRST_MESSAGE_MS, () => {
    end(new Fault('invalid', `No first message came within ${FIRST_MESSAGE_MS / 1_000} s.`, { at: 'agent_identity' }));
  });

  const attemptNow = (session: string): number | undefined => deps.view.sessions.get(session)?.attempt;

  function end(fault?: Fault): void {
    if (phase === 'over') return;
    phase = 'over';
    cancelWait();
    if (joined) {
      joined.wire.close();
      agents.remove(joined.connection);
    }
    stream.end(fault);
    if (!isClosed) cancelCut = clock.alarm(FAREWELL_MS, () => stream.cut());
  }

  function openWire(hello: Hello): Wire {
    const options = {
      stream,
      server,
      clock,
      log,
      report: (report: AgentReport) => sessions.report(hello.name, report),
      fail: end,
    };
    if (hello.wire === 'muster') return openMusterWire(options);
    const { executions } = hello;
    return openVeldaWire({ ...options, executions, attemptNow, lastSeq: deps.output.lastSeq });
  }

  async function join(message: AgentUpdateRequest): Promise<void> {
    const hello = helloOf(message, stream.caller.peerAddress, attemptNow);
    const agent = await workers.join(hello, proofOf(stream.caller));
    const wire = openWire(hello);
    const { peerAddress } = stream.caller;
    const connection: Connection = {
      name: agent.id,
      epoch: agent.epoch,
      peerAddress,
      send: wire.send,
      get waitingBytes() {
        return wire.waitingBytes;
      },
      end,
    };
    if (phase === 'over' || isClosed || !agents.admit(connection)) {
      workers.leave(agent.id, agent.epoch);
      return end(new Fault('conflict', 'A newer connection of this agent is there already.'));
    }
    joined = { agent, connection, wire };
    phase = 'open';
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
    wire.hear(message);
  }

  function refuse(thrown: unknown): void {
    const fault = Fault.from(thrown);
    const level = fault.kind === 'internal' ? 'error' : 'warn';
    log(level, 'agent refused', { from: stream.caller.peerAddress, kind: fault.kind, error: fault.message });
    end(fault);
  }

  function take(message: AgentUpdateRequest): void {
    if (phase === 'open') return joined?.wire.hear(message);
    phase = 'joining';
    cancelWait();
    stream.pause();
    join(message)
      .catch(refuse)
      .finally(() => stream.resume());
  }

  return {
    message(bytes) {
      if (phase === 'over') return;
      try {
        take(decode(AgentUpdateRequestSchema, bytes));
      } catch (thrown) {
        refuse(thrown);
      }
    },
    // A lost connection looks the same at first; then the answer goes nowhere, and `closed` follows.
    halfClosed: () =>
      end(
        joined ? undefined : new Fault('invalid', 'The stream ended before a first message.', { at: 'agent_identity' }),
      ),
    closed() {
      isClosed = true;
      phase = 'over';
      cancelWait();
      cancelCut();
      if (!joined) return;
      const { agent, connection, wire } = joined;
      wire.close();
      agents.remove(connection);
      workers.leave(agent.id, agent.epoch);
      deps.output.sweep();
      log('info', 'agent disconnected', { agent: agent.id, epoch: agent.epoch });
    },
  };
}
