import type { AgentReport, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Files } from '#core/file.ts';
import type { Log } from '#core/log.ts';
import type { Store } from '#core/store.ts';
import { openSharedAlarm } from '#wire/shared-alarm.ts';
import type { Machines } from '../machines/machines.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { agentUpdate } from './agent-stream.ts';
import { createAgents, type LateAgentLink } from './agents.ts';
import type { Authorize } from './authorize.ts';
import { fileCalls } from './file-calls.ts';
import { type Grpc, type GrpcOptions, openGrpc } from './grpc.ts';
import { type RpcMethod, unsupported } from './method.ts';
import { type LaunchFault, poolCalls } from './pool-calls.ts';
import { openRefusalLog } from './refusal-log.ts';
import { sessionCalls } from './session-calls.ts';
import { taskCalls } from './task-calls.ts';
import { tunnelCalls } from './tunnel-calls.ts';
import { createUnprovenCalls } from './unproven-calls.ts';
import { createVeldaOutput } from './velda-output.ts';

export { createAgentLink, type LateAgentLink } from './agents.ts';

// A dead machine is detected within the sum of these two, even if its agent sends nothing.
const PING_EVERY_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;
const STOP_GRACE_MS = 2_000;
// How long an acknowledgement may wait for a command that it can travel with.
const LATER_MS = 20;

// An agent needs one; the others are for a command line that shares a connection.
const STREAMS_PER_CONNECTION = 1_000;

export interface BrokerDeps extends Pick<GrpcOptions, 'clientAddress' | 'proved'> {
  /** From `createAgentLink`; the broker attaches its agents to it. */
  readonly link: LateAgentLink;
  readonly machines: Pick<Machines, 'join' | 'leave'>;
  readonly sessions: Pick<Sessions, 'agentJoined' | 'report' | 'submit' | 'kill' | 'find' | 'ended' | 'output'>;
  readonly files: Pick<Files, 'read' | 'contentsOf'>;
  readonly view: Pick<Store['view'], 'pools' | 'sessions' | 'agents'>;
  /** Resolves when all that the views show is durable; awaited before an answer shows it. */
  durable(): Promise<void>;
  readonly authorize: Authorize;
  /** Whether a credential of this server proves the caller, before it has named its pool. */
  knows(proof: JoinProof): boolean;
  /** Why the last launch of a pool (by its id) failed; undefined once one has succeeded. */
  readonly launchFault?: (pool: string) => LaunchFault | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly cluster: string;
  /** Number of the replica's holdership; grows with each change of holder. */
  readonly holderEpoch: number;
  /** How long a disconnected agent keeps its sessions running. */
  readonly agentLeaseMs: number;
  readonly pingEveryMs?: number;
  readonly pingTimeoutMs?: number;
  readonly streamsPerConnection?: number;
}

/** The gRPC edge: agents join here, and commands reach them. */
export interface Broker {
  /** Takes over accepted connections, with TLS or without; call it again for a renewed certificate. */
  readonly listener: Grpc['listener'];
  readonly connectedAgents: number;
  /** Ends every stream with status OK, so that agents reconnect at once, and then drops what remains. */
  stop(): Promise<void>;
}

/** Methods of Velda's server that Muster does not serve. */
const NOT_HERE: Readonly<Record<string, readonly [methods: string, remedy: string]>> = {
  BrokerService: ['SetTag', 'Give a session its labels when it starts: `muster run --label`.'],
  TaskService: [
    'ListTasks SearchTasks RunTask',
    'A task is a session here: see `muster session ls` and `muster session logs`.',
  ],
  InstanceService: [
    'CreateInstance GetInstance GetInstanceByName DeleteInstance ListInstances CreateSnapshot DeleteSnapshot ListImages CreateImage DeleteImage',
    'Muster has no instances; use any number as instance id.',
  ],
};

function refusals(): Record<string, RpcMethod> {
  return Object.fromEntries(
    Object.entries(NOT_HERE).flatMap(([service, [methods, remedy]]) =>
      methods
        .split(' ')
        .map((method) => [
          `/velda.${service}/${method}`,
          unsupported(`Muster does not serve ${service}.${method}.`, remedy),
        ]),
    ),
  );
}

export function startBroker(deps: BrokerDeps): Broker {
  const { machines, sessions, view, clock, log, version, cluster, holderEpoch, agentLeaseMs, knows } = deps;
  const agents = createAgents();
  const stopping = new AbortController();
  const report = (agent: string, report: AgentReport): void => sessions.report(agent, report);
  const unproven = createUnprovenCalls();
  const output = createVeldaOutput({ view, agents, unproven, clock, holderEpoch, report });
  const server = { version, cluster, agentLeaseMs };
  const refused = openRefusalLog({ clock, log });
  const later = openSharedAlarm(clock, LATER_MS);
  const { pingEveryMs = PING_EVERY_MS, pingTimeoutMs = PING_TIMEOUT_MS } = deps;
  const { streamsPerConnection = STREAMS_PER_CONNECTION } = deps;
  const perAgent = {
    machines,
    sessions,
    view,
    agents,
    output,
    unproven,
    refused,
    knows,
    server,
    clock,
    log,
    later,
  };
  const tunnels = tunnelCalls({ agents, view, clock }, stopping.signal);
  const methods: Record<string, RpcMethod> = {
    ...refusals(),
    ...sessionCalls(deps),
    ...fileCalls({ agents, view, files: deps.files }, stopping.signal),
    ...tunnels.methods,
    ...taskCalls(deps, stopping.signal),
    ...poolCalls({ ...deps, launchFault: deps.launchFault ?? (() => undefined) }, stopping.signal),
    '/velda.BrokerService/AgentUpdate': agentUpdate(perAgent),
    '/velda.TaskLogService/PushLogs': output.pushLogs,
  };
  const grpc = openGrpc(new Map(Object.entries(methods)), {
    clientAddress: deps.clientAddress,
    proved: deps.proved,
    pingEveryMs,
    pingTimeoutMs,
    streamsPerConnection,
    clock,
    log,
  });
  const { send, waitingBytes, dismiss } = agents;
  deps.link.attach({ send, dismiss, ...(waitingBytes && { waitingBytes }), openTunnel: tunnels.open });
  return {
    listener: grpc.listener,
    get connectedAgents() {
      return agents.size;
    },
    async stop() {
      for (const connection of agents.all()) connection.end();
      output.stop();
      stopping.abort();
      await grpc.stop(STOP_GRACE_MS);
    },
  };
}
