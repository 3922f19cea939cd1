import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld, type WorldOptions } from './testing/world.ts';

const stops: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

interface Asked {
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const SESSION = JSON.stringify({ pool: 'gpu', command: ['true'] });

/** The API with callers that each keep one connection; `byNode` and `byFastify` count what Node has read and fastify handled. */
async function served(options: WorldOptions = {}) {
  const rows = [row('pools', poolWithSecret('gpu'))];
  const world = await apiWorld({ clock: systemClock as unknown as VirtualClock, rows, ...options });
  const listener = createServer((socket) => void world.api.server.emit('connection', socket));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const seen = { byNode: 0, byFastify: 0 };
  const count = (): void => {
    seen.byFastify += 1;
  };
  const countNode = (): void => {
    seen.byNode += 1;
  };
  subscribe('tracing:fastify.request.handler:start', count);
  subscribe('http.server.request.start', countNode);
  stops.push(
    () => void listener.close(),
    () => world.api.close(),
    () => void unsubscribe('tracing:fastify.request.handler:start', count),
    () => void unsubscribe('http.server.request.start', countNode),
  );

  function caller(token = world.tokens.operator) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    stops.push(() => agent.destroy());
    return async ({ path = '/api/v1/sessions', body = SESSION, headers }: Asked = {}) => {
      const before = { ...seen };
      const sent = { host: 'localhost', authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const asking = request({ agent, port, path, method: 'POST', headers: { ...sent, ...headers } });
      asking.end(body);
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      const { date: _, location, ...others } = answer.headers;
      const shown = (await text(answer)).replace(/"(id|accepted_at)":"[^"]*"/g, '"$1":"…"');
      const by = { byNode: seen.byNode - before.byNode, byFastify: seen.byFastify - before.byFastify };
      return { status: answer.statusCode, headers: others, hasLocation: location !== undefined, shown, ...by };
    };
  }
  return { ...world, caller };
}

/** A disk that, once it is stopped, takes nothing before `written`. */
function aDiskThatStops() {
  const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const disk = {
    isStopped: false,
    async beforeWrite(): Promise<void> {
      if (!disk.isStopped) return;
      begun.resolve();
      await written.promise;
    },
  };
  return { disk, begun, written };
}

/** The answer to a caller on a new connection, to one who is known, and to the same request once more. */
async function everyWay(caller: () => (asked?: Asked) => Promise<object>, asked: Asked) {
  const first = await caller()(asked);
  const known = caller();
  await known();
  return [first, await known(asked), await known(asked)];
}

describe('a session submitted on a connection that was used before', () => {
  it('does not pass through fastify, and from the third on not through Node', async () => {
    const post = (await served()).caller();
    const ways = [await post(), await post(), await post(), await post()];

    expect(ways.map(({ byNode, byFastify }) => [byNode, byFastify])).toEqual([
      [1, 1],
      [1, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it.each<[string, Asked]>([
    ['a session', {}],
    ['a list', { body: `[${SESSION},${SESSION}]` }],
    ['an empty list', { body: '[]' }],
    ['a key for retries', { headers: { 'idempotency-key': 'k1' } }],
    ['a key that is none', { headers: { 'idempotency-key': 'a b' } }],
    ['no JSON', { body: '{"pool":' }],
    ['an empty body', { body: '' }],
    ['half a character', { body: SESSION.replace('true', 'tr\ud800') }],
    ['an unknown key', { body: '{"pool":"gpu","comand":["true"]}' }],
    ['an unknown query', { path: '/api/v1/sessions?x=1' }],
    ['another media type', { headers: { 'content-type': 'text/csv' } }],
    ['YAML', { headers: { 'content-type': 'application/yaml' } }],
    ['a long body', { body: JSON.stringify({ pool: 'gpu', command: ['true', 'x'.repeat(100_000)] }) }],
    ['another host', { headers: { host: 'evil.example' } }],
  ])('is answered as on a new connection: %s', async (_what, asked) => {
    const { caller } = await served();

    const [first, ...others] = await everyWay(caller, asked);

    for (const again of others) expect({ ...again, byNode: 1, byFastify: 1 }).toEqual({ ...first, byFastify: 1 });
  });

  it.each<[string, () => Error]>([
    ['a full queue', () => new Fault('throttled', 'The queue is full.', { retryAfterMs: 1_500 })],
    ['a bug', () => new TypeError('planted-secret')],
  ])('is refused as on a new connection: %s', async (_what, thrown) => {
    const world = await served();
    const post = world.caller();
    for (let n = 0; n < 3; n++) await post();
    world.sessions.submit = () => Promise.reject(thrown());

    const [first, again] = [await world.caller()(), await post()];
    expect(again.byNode).toBe(0);

    const blind = ({ shown, ...rest }: typeof first) => ({
      ...rest,
      byFastify: 0,
      byNode: 0,
      shown: shown.replace(/by \S+\./, ''),
    });
    expect(again.byFastify).toBe(0);
    // Of a bug the answer shows the number of the request, and so has another length.
    expect({ ...blind(again), headers: 0 }).toEqual({ ...blind(first), headers: 0 });
    expect(again.headers['retry-after']).toBe(first.headers['retry-after']);
  });

  it('needs a token that still holds, and the role', async () => {
    const { caller, deps, tokens } = await served();
    const [post, view] = [caller(), caller(tokens.viewer)];
    for (let n = 0; n < 3; n++) await post();
    const viewed = [await view(), await view()];
    const [token] = [...deps.store.view.tokens.all()].filter(({ name }) => name === 'operator');
    await deps.access.revokeToken(token?.id ?? '', { who: 'test', from: 'here' });

    expect(viewed.map(({ status }) => status)).toEqual([403, 403]);
    expect((await post()).status).toBe(401);
  });

  it('is counted among the answers', async () => {
    const { caller, deps } = await served();
    const post = caller();
    for (let n = 0; n < 4; n++) await post();

    expect(await deps.metrics.text()).toContain(
      'muster_http_request_seconds_count{method="POST",route="/api/v1/sessions",status="201"} 4',
    );
  });

  it('lets the store know how soon after its last answer the caller came again', async () => {
    const { caller, deps } = await served();
    const cameAgainMs: number[] = [];
    deps.store.cameAgain = (afterMs) => void cameAgainMs.push(afterMs);
    const post = caller();
    for (let n = 0; n < 4; n++) await post();

    // The first passes through fastify, the second is the first to be remembered.
    expect(cameAgainMs).toHaveLength(2);
    expect(Math.min(...cameAgainMs)).toBeGreaterThanOrEqual(0);
  });

  it('is answered only when durable', async () => {
    const { disk, begun, written } = aDiskThatStops();
    const { caller } = await served(disk);
    const post = caller();
    for (let n = 0; n < 3; n++) await post();
    disk.isStopped = true;
    const happened: string[] = [];

    const answered = post().then(({ status, byNode }) => happened.push(`answered ${status} ${byNode}`));
    await begun.promise;
    happened.push('durable');
    written.resolve();
    await answered;

    expect(happened).toEqual(['durable', 'answered 201 0']);
  });

  it('is answered when the server stops meanwhile', async () => {
    const { disk, begun, written } = aDiskThatStops();
    const { caller, api } = await served(disk);
    const post = caller();
    for (let n = 0; n < 3; n++) await post();
    disk.isStopped = true;

    const answered = post();
    await begun.promise;
    const closed = api.close();
    written.resolve();

    expect(await answered).toMatchObject({ status: 201, byNode: 0 });
    await closed;
  });
});
