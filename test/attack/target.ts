// A server to be attacked: its tokens, what must stay as it is, and how long others wait meanwhile.
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '#core/fault.ts';
import { until } from '#core/testing/until.ts';
import { apiOf } from '../system/harness/api.ts';
import { runCli } from '../system/harness/cli.ts';
import { placeServer, processPool, type RunningServer, startServer } from '../system/harness/server.ts';
import { openWorld } from '../system/harness/world.ts';

export const ROLES = ['no token', 'viewer', 'operator', 'admin'] as const;
export type Caller = (typeof ROLES)[number];

export interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export interface Target {
  readonly http: number;
  readonly grpc: number;
  token(of: Caller): string | undefined;
  /** Sends one request as it stands; status 0: the connection was closed without an answer. */
  send(shot: Shot): Promise<Answer>;
  /** What no refused request may change. */
  state(): Promise<string>;
  /** The memory that the process has, in megabytes. */
  memoryMb(): number;
  /** Runs an attack, and fails where the server kept another caller waiting too long meanwhile, in one turn of its event loop or in many. */
  whileOthersAsk<T>(attack: string, run: (other: OtherCaller) => Promise<T>, mostMs?: number): Promise<T>;
  /** Starts a session on the server's own agent; answers its id once it runs. */
  start(command: readonly string[]): Promise<string>;
  path(name: string): string;
  /** Makes an empty file. */
  write(name: string): void;
  /** Fails where the server has logged an internal error, or is another process than before. */
  mustBeSound(): void;
  close(): Promise<void>;
}

// Processor time of one turn, and of all that the server does while another caller waits for its answer: so it does not
// matter what else runs on this machine.
const LONGEST_WAIT_MS = 100;
/** What thousands of sockets do in one turn of the event loop, Node handles before anything else. */
export const CROWD_WAIT_MS = 300;
const UNDISTURBED_ANSWERS = 200;
const METER = join(import.meta.dirname, 'turn-meter.mjs');
const ANSWER_WITHIN_MS = 120_000;
const LONGEST_KEPT = 4 * 2 ** 20;

export const say = (text: string): void => void process.stderr.write(`  ${text}\n`);

export function breach(what: string): never {
  throw new Fault('internal', `Breach: ${what}`);
}

function sendTo(port: number, agent: Agent, { method, path, headers = {}, body }: Shot): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const failed = (): void => resolve({ status: 0, type: '', body: '' });
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const call = request({ host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers } });
  call.on('response', (reply: IncomingMessage) => {
    let text = '';
    const done = (): void => {
      resolve({ status: reply.statusCode ?? 0, type: reply.headers['content-type'] ?? '', body: text });
      // An endless answer is not waited for.
      if (!reply.complete) reply.destroy();
    };
    const isEndless = /event-stream|jsonl|ndjson/.test(reply.headers['content-type'] ?? '');
    if (isEndless) return done();
    reply.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < LONGEST_KEPT) text += piece;
    });
    reply.on('end', done).on('error', failed);
  });
  call.on('error', failed).setTimeout(ANSWER_WITHIN_MS, () => call.destroy());
  call.end(body);
  return promise;
}

/** Another caller: asks again and again on a connection of its own while an attack runs. */
export interface OtherCaller {
  /** Resolves after so many more answers: by then the server has had as many turns to take what was sent to it. */
  answered(count: number): Promise<void>;
}

function startOtherCaller(ask: () => Promise<Answer>): OtherCaller & { stop(): Promise<number> } {
  let isOver = false;
  let longestMs = 0;
  let answers = 0;
  const waiting = new Map<() => void, number>();
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      const { status } = await ask();
      if (status !== 200) breach(`another caller got ${status}`);
      longestMs = Math.max(longestMs, performance.now() - began);
      answers += 1;
      for (const [resolve, due] of waiting) if (answers >= due) resolve();
    }
    return longestMs;
  })();
  asking.catch(() => {});
  return {
    answered: (count) =>
      Promise.race([asking.then(() => {}), new Promise<void>((resolve) => waiting.set(resolve, answers + count))]),
    stop() {
      isOver = true;
      return asking;
    },
  };
}

/** The longest of each since it was asked last, in processor time of the server. */
interface Held {
  readonly turnMs: number;
  /** From a request of the other caller to its answer; it may have waited for one turn before. */
  readonly answerMs: number;
}

function longestHeld(path: string): Promise<Held> {
  return new Promise((resolve, reject) => {
    let text = '';
    connect(path)
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('end', () => resolve(JSON.parse(text) as Held))
      .on('error', reject);
  });
}

const shownHeld = ({ turnMs, answerMs }: Held, waitMs: number): string =>
  `longest turn ${turnMs.toFixed(0)} ms and longest wait ${(turnMs + answerMs).toFixed(0)} ms of processor time (${waitMs.toFixed(0)} ms on the wall)`;

export interface TargetOptions {
  readonly hasAgent?: boolean;
  /** As if every client came through a proxy: then connections are not limited by address. */
  readonly isBehindProxy?: boolean;
}

export async function openTarget({ hasAgent = false, isBehindProxy = false }: TargetOptions = {}): Promise<Target> {
  const world = openWorld();
  const local = hasAgent ? [processPool(world, 'local', { max_agents: 1, min_agents: 1 })] : [];
  const pools = [{ name: 'manual' }, { name: 'other', labels: { zone: 'a' } }, ...local];
  const place = await placeServer(world, {
    agent_pools: pools,
    ...(isBehindProxy && { server: { limits: { trusted_proxies: ['127.0.0.0/8'] } } }),
    provisioners: [{ file: { path: world.path('pools') } }],
  });
  world.write('pools/first.yaml', 'name: from-file\n');
  const meter = world.path('turns');
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(METER).href}`, MUSTER_TURN_METER: meter };
  const server: RunningServer = await startServer(world, place, env).ready();
  const tokens = new Map<Caller, string>([['admin', world.read('data/admin.token').trim()]]);
  for (const role of ['viewer', 'operator'] as const) {
    const { out } = await runCli(world, ['token', 'create', '--role', role, '--name', role]);
    tokens.set(role, out.trim());
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const own = new Agent({ keepAlive: true, maxSockets: 1 });
  const headersOf = (caller: Caller): Record<string, string> => {
    const token = tokens.get(caller);
    return { host: `127.0.0.1:${server.http}`, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  };
  const get = (path: string, more = {}): Promise<Answer> =>
    sendTo(server.http, own, { method: 'GET', path: `/api/v1${path}`, headers: { ...headersOf('admin'), ...more } });
  const startOther = () => startOtherCaller(() => get('/pools?limit=1', { 'x-other-caller': '1' }));

  async function measureUndisturbed(): Promise<void> {
    await longestHeld(meter);
    const other = startOther();
    await other.answered(UNDISTURBED_ANSWERS);
    const waitMs = await other.stop();
    say(`undisturbed: ${shownHeld(await longestHeld(meter), waitMs)}`);
  }
  await measureUndisturbed();

  return {
    http: server.http,
    grpc: server.grpc,
    token: (of) => tokens.get(of),
    send: (shot) =>
      sendTo(server.http, agent, { ...shot, headers: { host: `127.0.0.1:${server.http}`, ...shot.headers } }),
    async state() {
      const lists = ['/pools', '/sessions', '/workers', '/tokens', '/sources', '/freezes'];
      const bodies = await Promise.all(lists.map(async (path) => (await get(path)).body));
      return bodies.join('\n').replaceAll(/"(last_good_at|last_tried_at|duration)":"[^"]*",?/g, '');
    },
    memoryMb() {
      const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
      return Number(kb) / 1_024;
    },
    async whileOthersAsk(attack, run, mostMs = LONGEST_WAIT_MS) {
      await longestHeld(meter);
      const other = startOther();
      const result = await run(other);
      const waitMs = await other.stop();
      const held = await longestHeld(meter);
      say(`${attack}: ${shownHeld(held, waitMs)}`);
      if (held.turnMs + held.answerMs > mostMs) breach(`${attack} held up others: ${shownHeld(held, waitMs)}`);
      return result;
    },
    async start(command) {
      const api = apiOf(world, server.http);
      const { id } = await api.submit({ pool: 'local', command: [...command] });
      await until('it runs', async () => (await api.session(id)).phase === 'running');
      return id;
    },
    path: world.path,
    write: (name) => void world.write(name, ''),
    mustBeSound() {
      const failed = [...server.logged('request failed'), ...server.logged('gRPC call failed')];
      if (failed.length > 0) breach(`an internal error was logged: ${JSON.stringify(failed[0])}`);
      if (server.logged('serving').length !== 1) breach('the server has started again');
    },
    async close() {
      agent.destroy();
      own.destroy();
      await world.close();
    },
  };
}
