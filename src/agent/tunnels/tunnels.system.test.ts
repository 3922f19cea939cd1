import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { untilHolds } from '#core/testing/until.ts';
import type { TunnelEnd } from '#core/tunnel.ts';
import { findProgram } from '#host/programs.ts';
import { aCallInMemory } from '#wire/testing.ts';
import { openTunnelSide, type TunnelSide } from '#wire/tunnel-pieces.ts';
import type { SessionPlace } from './session-place.ts';
import { openTunnels } from './tunnels.ts';

/** A port of the session; the test is the session. */
async function aProgram(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    serve(socket);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, sockets };
}

const ownPlace: SessionPlace = { session: 's1', cwd: '/', pids: () => [process.pid] };

function anAgent(placeOf: () => Promise<SessionPlace> = async () => ownPlace, home = '/') {
  const paths: string[] = [];
  const servers = new Map<string, ReturnType<typeof aCallInMemory>>();
  const tunnels = openTunnels({
    duplex(path, headers) {
      const call = aCallInMemory();
      paths.push(path);
      servers.set(headers['x-muster-tunnel'] ?? '', call);
      return { messages: call.client, ended: call.ended, cancel: () => void call.client.destroy() };
    },
    placeOf,
    homeFolder: () => home,
    find: findProgram,
    log: silentLog,
  });
  /** Asks for a tunnel; answers the side of the broker. */
  function open(id: string, to: TunnelEnd, session: string | undefined = 's1') {
    tunnels.open({ do: 'open tunnel', id, session, attempt: 1, to });
    const call = servers.get(id) as ReturnType<typeof aCallInMemory>;
    return { ...call, side: openTunnelSide(call.server) };
  }
  const openMachine = (id: string, to: TunnelEnd) => {
    tunnels.open({ do: 'open tunnel', id, session: undefined, attempt: 0, to });
    const call = servers.get(id) as ReturnType<typeof aCallInMemory>;
    return { ...call, side: openTunnelSide(call.server) };
  };
  return { tunnels, paths, open, openMachine };
}

async function textOf(side: TunnelSide): Promise<string> {
  let text = '';
  for (let piece = await side.next(); piece; piece = await side.next())
    text += Buffer.from(piece.data).toString('latin1');
  return text;
}

const faultOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (thrown) => `${Fault.from(thrown).kind}: ${Fault.from(thrown).message}`,
  );

describe('a forwarded connection', () => {
  test('says that it is open, carries bytes both ways, and each side may end first', async () => {
    const { port } = await aProgram((socket) => {
      let heard = '';
      socket.on('data', (data) => (heard += String(data))).on('end', () => socket.end(`heard ${heard}`));
    });
    const { open, paths } = anAgent();
    const { side, server } = open('t1', { port });

    const first = await side.next();
    await side.send(Buffer.from('all'));
    await side.end();
    const answer = await textOf(side);
    await side.finished();
    server.end();

    expect(first?.data).toHaveLength(0);
    expect(answer).toBe('heard all');
    expect(paths).toEqual(['/velda.MusterTunnelService/Tunnel']);
  });

  test('that nobody reads holds up no other, and its program is slowed down', async () => {
    const { port, sockets } = await aProgram((socket) => {
      socket.once('data', (data) => {
        if (String(data) === 'quick') return void socket.end('done');
        const flood = (): void => void (socket.write(Buffer.alloc(256 * 1024)) ? setImmediate(flood) : undefined);
        flood();
      });
    });
    const { open } = anAgent();
    const stuck = open('stuck', { port });
    await stuck.side.next();
    await stuck.side.send(Buffer.from('slow'));
    await untilHolds(() => expect([...sockets].some(({ writableNeedDrain }) => writableNeedDrain)).toBe(true));

    const quick = open('quick', { port });
    await quick.side.send(Buffer.from('quick'));

    expect(await textOf(quick.side)).toBe('done');
    // A few messages wait in the call; the rest stays with the program.
    expect(stuck.server.readableLength + stuck.client.writableLength).toBeLessThan(10);
  });

  test('is reset at the program where the server closes it, or its connection is lost', async () => {
    const ends: string[] = [];
    const { port } = await aProgram((socket) => socket.resume().on('error', ({ message }) => ends.push(message)));
    const { open, tunnels } = anAgent();
    const [closed, lost] = [open('closed', { port }), open('lost', { port })];
    await Promise.all([closed.side.next(), lost.side.next()]);

    tunnels.close('closed');
    lost.breakOff();
    tunnels.close('unknown');

    await untilHolds(() => expect(ends).toHaveLength(2));
    expect(ends.every((end) => end.includes('ECONNRESET'))).toBe(true);
  });

  test('is cut with its session and with no other', async () => {
    const { port, sockets } = await aProgram((socket) => socket.resume());
    const { open, tunnels } = anAgent();
    const [first, second] = [open('a', { port }, 's1'), open('b', { port }, 's2')];
    await Promise.all([first.side.next(), second.side.next()]);

    tunnels.sessionEnded('s1');

    expect(await faultOf(first.side.next())).toMatch(/^unavailable: /);
    await untilHolds(() => expect(sockets.size).toBe(1));
    await second.side.send(Buffer.from('still there'));
    await untilHolds(() => expect([...sockets][0]?.bytesRead).toBe(11));
  });

  test('that is closed while it connects leaves no connection behind', async () => {
    const { port, sockets } = await aProgram((socket) => socket.resume());
    const place = Promise.withResolvers<SessionPlace>();
    const { open, tunnels } = anAgent(() => place.promise);
    const { side } = open('t1', { port });
    const over = faultOf(side.next());

    tunnels.close('t1');
    place.resolve(ownPlace);

    expect(await over).toMatch(/^unavailable: /);
    const { side: other } = anAgent().open('t2', { port });
    await other.next();
    await untilHolds(() => expect(sockets.size).toBe(1));
  });

  test('is refused with a fault where nobody of the session listens, or nothing of the session is there', async () => {
    const gone = anAgent(async () => {
      throw new Fault('missing', 'The files of the session are gone.');
    });
    const { port } = await aProgram((socket) => socket.destroy());
    const none = anAgent(async () => ({ ...ownPlace, pids: () => [] }));

    expect(await faultOf(gone.open('t1', { port }).side.next())).toBe('missing: The files of the session are gone.');
    expect(await faultOf(none.open('t1', { port }).side.next())).toBe(
      `unavailable: No process of session s1 listens on port ${port} of 127.0.0.1.`,
    );
  });

  test('whose program breaks off is a failure, and does not look complete', async () => {
    const { port } = await aProgram((socket) =>
      socket.once('data', () => socket.write('half', () => socket.resetAndDestroy())),
    );
    const { side } = anAgent().open('t1', { port });
    await side.next();

    await side.send(Buffer.from('go'));

    expect(await faultOf(textOf(side))).toMatch(/ECONNRESET/);
  });
});

test('a copy goes on when its session ends, and its failure is told after the bytes', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'muster-tunnels-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'big'), Buffer.alloc(3_000_000, 'x'));
  const { open, tunnels } = anAgent(async () => ({ ...ownPlace, cwd }));
  const copy = open('t1', { read: 'big' });
  const missing = open('t2', { read: 'none' });
  await copy.side.next();

  tunnels.sessionEnded('s1');

  expect((await textOf(copy.side)).match(/x+/g)?.reduce((sum, part) => sum + part.length, 0)).toBeGreaterThanOrEqual(
    3_000_000,
  );
  expect(await faultOf(textOf(missing.side))).toBe(
    'missing: The worker could not copy: ./none: no such file or folder.',
  );
});

describe('a tunnel to the machine itself, outside of any session', () => {
  test('reaches any port but those on which the agent itself listens', async () => {
    const own = await aProgram((socket) => socket.end('of the agent'));
    const { openMachine } = anAgent(async () => {
      throw new Fault('missing', 'There is no session.');
    });
    const script =
      "require('net').createServer((s) => s.end('of another')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ['-e', script], { stdio: 'pipe' });
    onTestFinished(() => void child.kill());
    const [line] = (await once(child.stdout, 'data')) as [Buffer];

    expect(await textOf(openMachine('t1', { port: Number(line.toString()) }).side)).toBe('of another');
    expect(await faultOf(textOf(openMachine('t2', { port: own.port }).side))).toBe(
      `denied: Port ${own.port} is the agent's own: it answers probes, and nothing else.`,
    );
    expect(own.sockets.size).toBe(0);
  });

  test('copies by absolute paths, and by paths below the home folder', async () => {
    const home = mkdtempSync(join(tmpdir(), 'muster-tunnels-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    writeFileSync(join(home, 'note'), 'kept at home');
    const { openMachine } = anAgent(async () => ownPlace, home);

    expect(await textOf(openMachine('t1', { read: 'note' }).side)).toContain('kept at home');
    expect(await textOf(openMachine('t2', { read: join(home, 'note') }).side)).toContain('kept at home');
    expect(await textOf(openMachine('t3', { read: '/etc/hosts' }).side)).toContain('localhost');
  });
});
