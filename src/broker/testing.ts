// A broker on loopback with workers and sessions that only record what they receive, and a client for it.
import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import { type DescMessage, fromBinary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { type ChannelCredentials, Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import type { AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Agent } from '#core/machine.ts';
import type { Session } from '#core/session.ts';
import {
  AgentUpdateRequestSchema,
  type AgentUpdateResponse,
  AgentUpdateResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { encode } from '#wire/messages.ts';
import { type MemoryTables, memoryTables } from '../store/view.ts';
import { type Broker, type BrokerDeps, createAgentLink, type LateAgentLink, startBroker } from './broker.ts';
import type { ServerTls } from './connections.ts';
import type { AnswerStream, RpcCaller } from './method.ts';

export interface FakePlane {
  readonly broker: Broker;
  readonly link: LateAgentLink;
  readonly tables: MemoryTables;
  readonly port: number;
  readonly hellos: { readonly hello: Hello; readonly proof: JoinProof }[];
  readonly joined: { readonly name: string; readonly executions: Hello['executions'] }[];
  readonly left: { readonly name: string; readonly epoch: number }[];
  readonly reports: { readonly agent: string; readonly report: AgentReport }[];
  close(): Promise<void>;
}

export interface FakePlaneOptions extends Partial<Omit<BrokerDeps, 'link' | 'view'>> {
  /** Throws to refuse. */
  readonly door?: (hello: Hello, proof: JoinProof) => void | Promise<void>;
  readonly tls?: ServerTls;
  /** Called with each report after it was recorded. */
  readonly heard?: (agent: string, report: AgentReport, link: LateAgentLink) => void;
  readonly port?: number;
}

function agentOf(hello: Hello, epoch: number, clock: Clock): Agent {
  const { name, pool, slots, labels, wire, version, hostname, address } = hello;
  return {
    id: name,
    use: 'worker',
    owner: pool,
    epoch,
    slots,
    labels,
    wire,
    version,
    hostname,
    address,
    connectedAt: clock.now(),
    ...(hello.opensTunnels && { opensTunnels: true }),
    ...(hello.movesEnd && { movesEnd: true }),
  };
}

export async function openFakePlane(options: FakePlaneOptions = {}): Promise<FakePlane> {
  const clock = options.clock ?? systemClock;
  const link = createAgentLink();
  const tables = memoryTables();
  const kept: Pick<FakePlane, 'hellos' | 'joined' | 'left' | 'reports'> = {
    hellos: [],
    joined: [],
    left: [],
    reports: [],
  };
  let epoch = 0;
  const machines: BrokerDeps['machines'] = {
    async join(hello, proof) {
      kept.hellos.push({ hello, proof });
      await options.door?.(hello, proof);
      epoch += 1;
      const agent = agentOf(hello, epoch, clock);
      tables.agents.set(agent.id, agent);
      return agent;
    },
    leave(name, left) {
      kept.left.push({ name, epoch: left });
      if (tables.agents.get(name)?.epoch === left) tables.agents.set(name, undefined);
    },
  };
  const nothing = (): never => {
    throw new Fault('missing', 'There is no such session.');
  };
  const sessions: BrokerDeps['sessions'] = {
    agentJoined: (name, executions) => void kept.joined.push({ name, executions }),
    report(agent, report) {
      kept.reports.push({ agent, report });
      options.heard?.(agent, report, link);
    },
    submit: async () => nothing(),
    kill: async () => nothing(),
    find: async () => undefined,
    ended: async () => nothing(),
    output: () => nothing(),
  };
  const broker = startBroker({
    machines,
    sessions,
    files: { read: () => nothing(), contentsOf: async () => nothing() },
    durable: async () => {},
    authorize: () => ({ who: 'token:test', from: 'test' }),
    knows: ({ token }) => token !== undefined,
    log: silentLog,
    version: '0.0.0-test',
    cluster: 'cluster1',
    holderEpoch: 1,
    agentLeaseMs: 1_800_000,
    ...options,
    clock,
    link,
    view: tables,
  });
  const server = createServer({ pauseOnConnect: true }, broker.listener(options.tls));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    broker,
    link,
    tables,
    port,
    ...kept,
    async close() {
      server.close();
      await broker.stop();
    },
  };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

export function clientTo(plane: Pick<FakePlane, 'port'>, secured?: ChannelCredentials): Client {
  return new Client(`localhost:${plane.port}`, secured ?? credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
}

/** The agent's side of a stream, message by message. */
export interface FakeAgent {
  readonly call: ClientDuplexStream<Uint8Array, AgentUpdateResponse>;
  /** All answers so far. */
  readonly answers: AgentUpdateResponse[];
  say(message: MessageInitShape<typeof AgentUpdateRequestSchema>): void;
  sayBytes(bytes: Uint8Array): void;
  /** How the stream ended. */
  readonly ended: Promise<{ readonly code: number; readonly details: string }>;
  close(): void;
}

export function openFakeAgent(client: Client, headers: Readonly<Record<string, string>> = {}): FakeAgent {
  const call = client.makeBidiStreamRequest<Uint8Array, AgentUpdateResponse>(
    '/velda.BrokerService/AgentUpdate',
    asBuffer,
    (bytes) => fromBinary(AgentUpdateResponseSchema, bytes),
    metadataOf(headers),
  );
  const answers: AgentUpdateResponse[] = [];
  call.on('data', (answer: AgentUpdateResponse) => answers.push(answer));
  call.on('error', () => {});
  const ended = new Promise<{ code: number; details: string }>((resolve) => call.on('status', resolve));
  return {
    call,
    answers,
    say: (message) => void call.write(encode(AgentUpdateRequestSchema, message)),
    sayBytes: (bytes) => void call.write(bytes),
    ended,
    close: () => client.close(),
  };
}

export interface Question<Request extends DescMessage, Answer extends DescMessage> {
  readonly path: string;
  readonly request: Request;
  readonly answer: Answer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One call with one message each way; rejects with the gRPC status. */
export function ask<Request extends DescMessage, Answer extends DescMessage>(
  client: Client,
  { path, request, answer, headers = {} }: Question<Request, Answer>,
  message: MessageInitShape<Request>,
): Promise<MessageShape<Answer>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      asBuffer,
      (bytes) => fromBinary(answer, bytes),
      encode(request, message),
      metadataOf(headers),
      (error, said) => (error || !said ? reject(error) : resolve(said)),
    );
  });
}

/** One that shows no certificate. */
export function aCaller(peerAddress: string, headers: Readonly<Record<string, string>> = {}): RpcCaller {
  const header = (name: string): string | undefined => headers[name];
  return { peerAddress, certificateName: undefined, header, proved() {}, cut() {} };
}

/** The side of the server of a call with one request, whose messages are taken at once. */
export function anAnswerStream(request: Uint8Array) {
  const said: Uint8Array[] = [];
  const write = (message: Uint8Array, written: () => void): void => {
    said.push(message);
    written();
  };
  const call = Object.assign(new EventEmitter(), { request, write }) as unknown as AnswerStream;
  return { call, said };
}

export function aSession(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    pool: 'p1',
    poolName: 'local',
    spec: { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 10_000, retries: 0 },
    acceptedAt: 0,
    by: 'token:test',
    attempt: 1,
    ...more,
  };
}
