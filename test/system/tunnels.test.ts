// `muster cp` and `muster port-forward` with the real server, real agents and the real command line.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli, startCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A program that sends back what it gets; with `slow`, it stops reading after the first bytes. */
const ECHO = `
const net = require('node:net');
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', (first) => {
    if (first.toString().startsWith('slow')) return socket.pause();
    socket.write(first);
    socket.pipe(socket);
  });
});
server.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync(process.argv[1], String(server.address().port)));
`;

async function aServer(context: Parameters<typeof openWorld>[0], scaler: object = {}) {
  const world = openWorld(context);
  const limits = { max_agents: 2, min_agents: 1, min_idle_agents: 0, max_idle_agents: 2, ...scaler };
  const place = await placeServer(world, { agent_pools: [processPool(world, 'local', limits)] });
  const server = await startServer(world, place).ready();
  return { world, place, server, api: apiOf(world, place.http) };
}

/** Runs a session in the background until its file says that it is ready. */
async function started(world: World, name: string, words: readonly string[], ready: string): Promise<void> {
  const { code, err } = await runCli(world, ['run', '-d', '--name', name, ...words]);
  expect({ code, err }).toMatchObject({ code: 0 });
  await until(
    `${name} is ready`,
    () => existsSync(world.path(ready)) && readFileSync(world.path(ready), 'utf8') !== '',
  );
}

async function echoSession(world: World): Promise<number> {
  await started(world, 'echo', ['--', process.execPath, '-e', ECHO, world.path('port')], 'port');
  return Number(readFileSync(world.path('port'), 'utf8'));
}

/** Forwards to that port; answers the local one. */
async function forwarded(world: World, session: string, port: number) {
  const running = startCli(world, ['port-forward', session, `:${port}`]);
  const local = await until('it listens', () => /127\.0\.0\.1:(\d+) -> /.exec(running.out())?.[1]);
  return { running, local: Number(local) };
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Resolves when nothing more can come; an orderly end or a reset. */
function overOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['end', 'error', 'close']) socket.on(event, () => resolve());
  });
}

/** Sends bytes, half-closes, and reads what comes back until the end. */
async function echoed(port: number, bytes: Uint8Array): Promise<string> {
  const socket = await opened(port);
  const hash = createHash('sha256');
  socket.on('data', (chunk) => hash.update(chunk));
  const ended = new Promise<void>((resolve, reject) => socket.once('end', resolve).once('error', reject));
  socket.end(bytes);
  await ended;
  return hash.digest('hex');
}

describe.concurrent('muster cp', () => {
  test('copies files, folders and links both ways, and from a session that has ended', async (context) => {
    const { world } = await aServer(context);
    world.write(
      'project/train.sh',
      'mkdir -p out/deep && printf model >out/model.pt && cp big out/deep/ && ln -s ../model.pt out/deep/link && chmod 700 out/deep/big',
      0o755,
    );
    world.write('project/big', randomBytes(3_000_000).toString('hex'));
    world.write('more/notes', 'notes');
    const wait = 'while [ ! -e "$0" ]; do sleep 0.05; done; cat given/notes; cat renamed; sh train.sh';
    const words = [
      '--sync',
      world.path('project'),
      '--',
      'sh',
      '-c',
      `touch "$0.ready"; echo >"$0.ready"; ${wait}`,
      world.path('go'),
    ];
    await started(world, 'train', words, 'go.ready');

    const given = await runCli(world, ['cp', 'more', 'train:given']);
    const renamed = await runCli(world, ['cp', 'more/notes', 'train:renamed']);
    world.write('go', 'go');
    const waited = await runCli(world, ['session', 'wait', 'train']);
    const { out } = await runCli(world, ['logs', 'train']);
    const file = await runCli(world, ['cp', 'train:out/model.pt', '.']);
    const folder = await runCli(world, ['cp', 'train:out', 'results']);

    expect([given, renamed, waited, file, folder].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(out).toBe('notesnotes');
    expect(world.read('model.pt')).toBe('model');
    expect(readFileSync(world.path('results/deep/big'))).toEqual(readFileSync(world.path('project/big')));
    expect(statSync(world.path('results/deep/big')).mode & 0o777).toBe(0o700);
    expect(lstatSync(world.path('results/deep/link')).isSymbolicLink()).toBe(true);
    expect(folder.err).toContain('copied 2 files');
  });

  test('says which path is missing, that a worker is gone and since when, and refuses to write to an ended session', async (context) => {
    const { world, api } = await aServer(context, { min_agents: 0, max_idle_agents: 0 });
    const { code } = await runCli(world, ['run', '--name', 'short', '--', 'true']);
    expect(code).toBe(0);
    await until(
      'its worker is removed',
      async () => (await api.get<{ items: unknown[] }>('/workers')).items.length === 0,
    );

    const gone = await runCli(world, ['cp', 'short:x', '.']);
    const write = await runCli(world, ['cp', world.path('server.yaml'), 'short:x']);
    const none = await runCli(world, ['cp', 'never:x', '.']);

    expect(gone.err).toMatch(/The files of session \w+ are gone since \d{4}-\S+: worker m-local-\S+ was removed\./);
    expect(write.err).toMatch(/Session \w+ has ended\./);
    expect(none.err).toContain('There is no session never.');
    expect([gone.code, write.code, none.code]).toEqual([4, 5, 4]);
  });

  test('gives an operator no more than the session has: names out of its folder are those of its own account', async (context) => {
    const { world } = await aServer(context);
    world.write('project/a', 'a');
    const words = [
      '--sync',
      world.path('project'),
      '--',
      'sh',
      '-c',
      'ln -s /etc/hostname out; echo >"$0"; sleep 1000',
      world.path('ready'),
    ];
    await started(world, 'links', words, 'ready');

    const folder = await runCli(world, ['cp', 'links:.', 'copy']);
    const missing = await runCli(world, ['cp', 'links:none', '.']);

    expect(folder).toMatchObject({ code: 0 });
    expect(folder.err).toContain('left out devices, pipes, and links out of the folder: ./out');
    expect(readdirSync(world.path('copy'))).toEqual(['a']);
    expect(missing).toMatchObject({ code: 4 });
    expect(missing.err).toContain('./none: no such file or folder');
  });
});

describe.concurrent('muster port-forward', () => {
  test('carries 100 MB both ways and fifty connections, and one that does not read holds up no other', async (context) => {
    const { world } = await aServer(context);
    const port = await echoSession(world);
    const { running, local } = await forwarded(world, 'echo', port);
    const bytes = randomBytes(100 * 1024 * 1024);
    const stuck = await opened(local);
    stuck.on('error', () => {});
    stuck.write('slow');
    const flood = (): void => void (stuck.write(bytes.subarray(0, 1024 * 1024)) ? setImmediate(flood) : undefined);
    stuck.on('drain', flood);
    flood();
    // Buffers on the way take some of it: it is full when nothing more is taken.
    let takenBefore = -1;
    await until('the stuck one is full', () => {
      const taken = stuck.bytesWritten - stuck.writableLength;
      const isFull = stuck.writableNeedDrain && taken === takenBefore;
      takenBefore = taken;
      return isFull;
    });

    const large = await echoed(local, bytes);
    const small = await Promise.all(Array.from({ length: 50 }, (_, n) => echoed(local, Buffer.from(`number ${n}`))));

    expect(large).toBe(sha(bytes));
    expect(small).toEqual(Array.from({ length: 50 }, (_, n) => sha(Buffer.from(`number ${n}`))));
    stuck.destroy();
    running.signal('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
  });

  test('ends with the session, and cuts its connections', async (context) => {
    const { world } = await aServer(context);
    const port = await echoSession(world);
    const { running, local } = await forwarded(world, 'echo', port);
    const socket = await opened(local);
    const closed = overOf(socket);
    socket.write('hello');
    await new Promise<void>((resolve) => socket.once('data', () => resolve()));

    await runCli(world, ['session', 'kill', 'echo']);

    await closed;
    expect(await running.ended).toMatchObject({ code: 0, err: expect.stringMatching(/session \w+ has ended/) });
  });

  test('reaches no port of the server, of the agent or of another session', async (context) => {
    const { world, place } = await aServer(context);
    const port = await echoSession(world);
    await started(
      world,
      'other',
      ['--', 'sh', '-c', 'echo >"$0"; sleep 1000', world.path('other.ready')],
      'other.ready',
    );

    for (const [session, wanted] of [
      ['echo', place.http],
      ['echo', place.grpc],
      ['other', port],
    ] as const) {
      const { running, local } = await forwarded(world, session, wanted);
      const socket = await opened(local).catch(() => undefined);
      socket?.on('error', () => {});
      await until('it is refused', () => /No process of session \w+ listens on port \d+/.test(running.err()));
      running.signal('SIGINT');
      await running.ended;
    }
  });

  test('is refused for viewers, and ends at once when its token is revoked', async (context) => {
    const { world, api } = await aServer(context);
    const port = await echoSession(world);
    const make = (role: string) => api.post<{ token: string; id: string }>('/tokens', { name: role, role });
    const [viewer, operator] = [await make('viewer'), await make('operator')];
    const refused = startCli(world, ['port-forward', 'echo', `:${port}`], { MUSTER_TOKEN: viewer.token });
    const refusedAt = Number(await until('it listens', () => /127\.0\.0\.1:(\d+)/.exec(refused.out())?.[1]));
    // The reset may come before this process has seen that it is connected.
    await opened(refusedAt).then(
      (socket) => socket.on('error', () => {}),
      () => {},
    );
    await until('the viewer is refused', () => refused.err().includes('needs the role operator'));
    refused.signal('SIGINT');

    const running = startCli(world, ['port-forward', 'echo', `:${port}`], { MUSTER_TOKEN: operator.token });
    const local = Number(await until('it listens', () => /127\.0\.0\.1:(\d+)/.exec(running.out())?.[1]));
    const socket = await opened(local);
    const reset = new Promise<Error>((resolve) => socket.once('error', resolve));
    socket.write('hello');
    await new Promise<void>((resolve) => socket.once('data', () => resolve()));
    await api.request(`/tokens/${operator.id}`, { method: 'DELETE' });

    expect(await reset).toMatchObject({ code: 'ECONNRESET' });
    expect((await running.ended).code).toBe(3);
  });
});
