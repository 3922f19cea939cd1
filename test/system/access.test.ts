// Who is let in and who is not, and what never shows: on one server, with secrets planted wherever it keeps any.
import { spawn } from 'node:child_process';
import { closeSync, globSync, openSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS } from '#core/fault.ts';
import { until } from '#core/testing/until.ts';
import { PASSWORD, type SharedPostgres, sharedPostgres } from '../../src/store/testing/postgres.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, type RunningServer, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

const SESSION_SECRET = 'planted-in-a-session-5502';
const POOL_SECRET = 'planted-in-a-pool-7713';

let postgres: SharedPostgres;
let world: World;
let server: RunningServer;
let api: Api;
let admin: string;
const tokens: Record<string, string> = {};

async function newToken(...words: string[]): Promise<string> {
  const { out } = await runCli(world, ['token', 'create', ...words]);
  return out.trim();
}

beforeAll(async () => {
  postgres = await sharedPostgres();
  world = openWorld();
  const store = `file:${world.write('store.secret', `${await postgres.database()}\n`)}`;
  const env = { POOL_SECRET: `\${PLANTED_IN_POOL}` };
  const pool = processPool(world, 'local', { max_agents: 1, min_agents: 1, env });
  const place = await placeServer(world, { store, agent_pools: [pool, { name: 'manual' }] });
  server = await startServer(world, place, { PLANTED_IN_POOL: POOL_SECRET }).ready();
  api = apiOf(world, server.http);
  admin = world.read('data/admin.token').trim();
  const [viewer, operator, join] = await Promise.all([
    newToken('--role', 'viewer'),
    newToken('--role', 'operator'),
    newToken('--join', 'manual'),
  ]);
  Object.assign(tokens, { viewer, operator, join });
});
afterAll(() => world.close());

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type: string;
}

/** One request as it stands: nothing of path or headers is tidied up on the way. */
function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: server.http, method, path, headers }, (reply: IncomingMessage) => {
      let body = '';
      const done = (): void =>
        resolve({ status: reply.statusCode ?? 0, body, type: reply.headers['content-type'] ?? '' });
      reply.setEncoding('latin1').on('data', (text: string) => {
        body += text;
        // Some answers have no end, and some are long.
        if (body.length > 200_000 || reply.headers['content-type']?.startsWith('text/event-stream')) reply.destroy();
      });
      reply.once('close', done);
    });
    asked.once('error', reject);
    asked.end();
  });
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly security: readonly unknown[] }>>;
}

async function routes(): Promise<{ method: string; path: string; isOpen: boolean }[]> {
  const { paths } = JSON.parse((await ask('GET', '/openapi.json', bearer(admin))).body) as OpenApi;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => {
      return { method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'local'), isOpen: security.length === 0 };
    }),
  );
}

test('without a token nothing is served, on loopback too', async () => {
  const all = await routes();
  const guarded = all.filter(({ isOpen }) => !isOpen);

  const answers = await Promise.all(guarded.map(({ method, path }) => ask(method, path)));
  const forged = await Promise.all(
    guarded.slice(0, 5).map(({ method, path }) => ask(method, path, bearer(`${admin}x`))),
  );
  const unknown = await ask('GET', '/api/v1/nothing');
  const socket = await ask('GET', '/api/v1/sessions/local/attach', {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  });

  expect(guarded.length).toBeGreaterThan(25);
  expect(all.filter(({ isOpen }) => isOpen).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /login',
    'GET /healthz',
    'GET /readyz',
    'GET /agent/install.sh',
    'GET /agent/local',
  ]);
  expect([...new Set(answers.map(({ status }) => status))]).toEqual([401]);
  // Guessing is slowed down.
  expect(forged.filter(({ status }) => status !== 401 && status !== 429)).toEqual([]);
  expect([unknown.status, socket.status]).toEqual([401, 401]);
  for (const { body } of [...answers, ...forged]) expect(JSON.parse(body)).not.toHaveProperty('items');
});

test('a token opens what its role may do, and no more', async () => {
  const asViewer = await runCli(world, ['run', '--', 'true'], { MUSTER_TOKEN: tokens.viewer ?? '' });
  const asOperator = await runCli(world, ['token', 'ls'], { MUSTER_TOKEN: tokens.operator ?? '' });
  const seen = await ask('GET', '/api/v1/pools', bearer(tokens.viewer ?? ''));
  const byAgent = await ask('GET', '/api/v1/pools', bearer(tokens.join ?? ''));

  expect(asViewer).toMatchObject({ code: FAULTS.denied.exit, err: expect.stringContaining('needs the role operator') });
  expect(asOperator).toMatchObject({ code: FAULTS.denied.exit, err: expect.stringContaining('needs the role admin') });
  expect(seen.status).toBe(200);
  expect(byAgent.status).toBe(401);
});

test('a name that is not ours is refused, with and without a token', async () => {
  const hosts = ['evil.example', `evil.example:${server.http}`, '127.0.0.1.evil.example', 'localhost@evil.example'];

  const answers = await Promise.all(
    hosts.flatMap((host) => [
      ask('GET', '/api/v1/pools', { host, ...bearer(admin) }),
      ask('GET', '/docs', { host }),
      ask('GET', '/agent/agent.mjs', { host }),
      ask('GET', '/login?code=x', { host }),
    ]),
  );

  expect(answers.filter(({ status }) => status !== 421 && status !== 400)).toEqual([]);
});

test('no path leads out of the output of sessions or the files of the agent', async () => {
  const up = ['..', '%2e%2e', '..%2f..', '....//', '%2e%2e%2f%2e%2e%2fadmin.token', '..\\..', '%00', 'admin.token'];
  const paths = up.flatMap((step) => [
    `/agent/${step}`,
    `/agent/${step}/admin.token`,
    `/agent/${step}%2fadmin.token`,
    `/api/v1/sessions/${step}/output`,
    `/api/v1/sessions/${step}%2f${step}%2fdata%2fadmin.token/output`,
  ]);

  const answers = await Promise.all(paths.map((path) => ask('GET', path, bearer(admin))));

  expect(answers.filter(({ status }) => status < 400 || status >= 500)).toEqual([]);
  expect(answers.filter(({ body }) => body.includes(admin) || body.includes('root:'))).toEqual([]);
});

/** Runs an agent with that file until the broker has let it in or turned it away; answers which. */
async function join(name: string, config: { token?: string | undefined; pool?: string; as?: string }): Promise<string> {
  const file = world.write(
    `${name}.yaml`,
    JSON.stringify({
      broker: { address: `127.0.0.1:${server.grpc}` },
      pool: config.pool ?? 'manual',
      join_token: config.token,
      daemon_config: { agent_name: config.as ?? name, work_dir_path: world.path(`work-${name}`) },
    }),
  );
  const [bundle = ''] = globSync(world.path('data/agent/agent-*.mjs'));
  const log = openSync(world.path(`agent-${name}.log`), 'a');
  spawn(process.execPath, [bundle, 'agent', '--config', file], { env: world.env, stdio: ['ignore', log, log] });
  closeSync(log);
  return until(`${name} was heard`, () => {
    const lines = world
      .lines(`agent-${name}.log`)
      .map((line) => JSON.parse(line) as { message: string; error?: string });
    const answer = lines.find(({ message }) => message === 'joined' || message === 'not connected');
    return answer && (answer.error ?? 'joined');
  });
}

test('an agent comes in by a good token, once for each name: forged and reused ones are refused', async () => {
  const [worker] = await until('the local agent is here', async () => {
    const found = (await api.workers()).filter(({ pool, phase }) => pool === 'local' && phase === 'idle');
    return found.length > 0 && found;
  });
  const machine = worker?.name ?? '';
  const launch = /joinToken: (\S+)/.exec(world.read(`data/machines/${machine}/agent.yaml`))?.[1];

  const first = await join('first', { token: tokens.join });
  const rest = await Promise.all([
    join('second', { token: tokens.join, as: 'first' }),
    join('bare', {}),
    join('forged', { token: `${tokens.join}x` }),
    join('api', { token: admin }),
    join('again', { token: launch, pool: 'local', as: machine }),
    join('other', { token: launch, pool: 'local' }),
    join('elsewhere', { token: launch }),
    join('wrong-pool', { token: tokens.join, pool: 'local' }),
  ]);

  expect(launch).toMatch(/^mlt_/);
  expect(first).toBe('joined');
  expect(rest).toEqual([
    expect.stringContaining('first has already joined with another key'),
    expect.stringContaining('requires agents to have a token'),
    expect.stringContaining('not valid for pool manual'),
    expect.stringContaining('not valid for pool manual'),
    expect.stringContaining('has already joined with another key'),
    expect.stringContaining('other was not launched for pool'),
    expect.stringContaining('not made for elsewhere'),
    expect.stringContaining('not valid for pool local'),
  ]);
  tokens.launch = launch ?? '';
});

test('no secret is in logs, events, answers or process lists', async () => {
  const { id } = await api.submit({
    pool: 'local',
    command: ['sh', '-c', 'echo "$GIVEN" | wc -c; exec sleep 60'],
    env: { GIVEN: SESSION_SECRET },
  });
  await until('it runs', async () => (await api.outputLines(id)).length > 0);
  const refused = await runCli(world, ['session', 'ls', '--token', 'wrong-token-4411']);
  const all = (await routes()).filter(({ method, path }) => method === 'GET' && !/backup|agent\//.test(path));
  const paths = [
    ...all.map(({ path }) => path.replace('sessions/local', `sessions/${id}`)),
    '/api/v1/events?limit=1000',
  ];

  const answers = await Promise.all(paths.map((path) => ask('GET', path, bearer(admin))));
  // Other tests name the same database on their command lines.
  const processes = world.living();
  const logs = readdirSync(world.folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.log'));

  const planted = { admin, ...tokens, password: PASSWORD, session: SESSION_SECRET, pool: POOL_SECRET };
  const seenIn = (text: string): string[] =>
    Object.entries(planted).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));
  expect(Object.values(planted).every((secret) => secret.length > 10)).toBe(true);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(15);
  for (const [at, { body }] of answers.entries()) expect.soft(seenIn(body), paths[at]).toEqual([]);
  expect(logs.length).toBeGreaterThan(8);
  for (const name of logs) expect.soft(seenIn(world.read(name)), name).toEqual([]);
  for (const { command } of processes) expect.soft(seenIn(command), command).toEqual([]);
  const sessions = processes.filter(({ environment }) => environment.includes(`MUSTER_SESSION=${id}`));
  expect(sessions.length).toBeGreaterThan(0);
  for (const { command, environment } of sessions) {
    // What its pool and its caller gave to it, and nothing of ours.
    expect.soft(seenIn(environment).toSorted(), command).toEqual(['pool', 'session']);
  }
  const others = processes.filter(({ environment }) => !environment.includes('MUSTER_SESSION='));
  for (const { pid, command, environment } of others) {
    if (pid === server.pid || /machines/.test(command)) continue;
    expect.soft(seenIn(environment), command).toEqual([]);
  }
  expect(refused.out + refused.err).not.toContain('wrong-token-4411');
});

test('the CLI gives the token of the data directory to its own server alone, whoever else asks for one', async (context) => {
  const shown: (string | undefined)[] = [];
  const stranger = createServer((asked, answer) => {
    shown.push(asked.headers.authorization);
    answer.writeHead(401, { 'content-type': 'application/problem+json' });
    answer.end(JSON.stringify({ kind: 'unauthenticated', detail: 'Send me your token.' }));
  });
  context.onTestFinished(() => void stranger.close());
  await new Promise<void>((resolve) => void stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as AddressInfo;

  const refused = await runCli(world, ['pool', 'ls'], { MUSTER_ADDRESS: `http://127.0.0.1:${port}` });
  const own = await runCli(world, ['pool', 'ls', '--address', `http://localhost:${server.http}`]);

  expect(shown).toEqual([undefined]);
  expect(refused.code).toBe(FAULTS.unauthenticated.exit);
  expect(refused.err).toContain(
    `the token in the data directory ${world.dataDir} is only for the server of that directory`,
  );
  expect(own).toMatchObject({ code: 0, out: expect.stringContaining('manual') });
});
