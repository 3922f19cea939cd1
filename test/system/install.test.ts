import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { placeCurl } from '#fakes/boot/curl.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { SOURCES } from './harness/start-place.ts';
import { openWorld, type World } from './harness/world.ts';

// All that the install script and the agent ask of a machine.
const TOOLS =
  'sh curl wget tar gzip sha256sum shasum uname mktemp mkdir mkfifo chmod sed rm cat id dirname sleep'.split(' ');

/** A PATH with a few tools, and without Node. Its curl is ours where this machine has none. */
function bareMachine(world: World): string {
  const bin = world.path('bin');
  mkdirSync(bin);
  for (const tool of TOOLS) {
    const found = ['/usr/bin', '/bin'].map((folder) => join(folder, tool)).find(existsSync);
    if (found) symlinkSync(found, join(bin, tool));
  }
  placeCurl(bin);
  return bin;
}

async function joinToken(world: World): Promise<string> {
  const { code, out, err } = await runCli(world, ['token', 'create', '--join', 'manual']);
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
  return out.trim();
}

/** Fetches the script as its guide says, and runs it. */
function install(
  world: World,
  url: string,
  { words, env }: { words: readonly string[]; env: Record<string, string> },
): void {
  const log = openSync(world.path('install.log'), 'a');
  const fetching = 'curl -fsS $CA "$0/agent/install.sh" | sh -s -- "$@"';
  spawn('/bin/sh', ['-c', fetching, url, ...words], {
    cwd: world.folder,
    env: { ...world.mark, HOME: world.folder, MUSTER_SESSION_ENV: Object.keys(world.mark).join(), ...env },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
}

describe.concurrent('a machine that has nothing', () => {
  test('gets agent and runtime from the server by one line, joins, and runs sessions', async (context) => {
    const world = openWorld(context);
    const place = await placeServer(world, { agent_pools: [{ name: 'manual' }] }, { isFirstStart: true });
    await startServer(world, place, {}, SOURCES).ready();
    const token = await joinToken(world);
    const prefix = world.path('prefix');

    const words = ['--pool', 'manual', '--token', token, '--name', 'bare', '--prefix', prefix, '--run'];
    install(world, `http://127.0.0.1:${place.http}`, { words, env: { PATH: bareMachine(world) } });
    const [worker] = await until('it has joined', async () => {
      const found = (await apiOf(world, place.http).workers()).filter(({ phase }) => phase === 'idle');
      return found.length > 0 && found;
    });
    const ran = await runCli(world, [
      'run',
      '--pool',
      'manual',
      '--',
      'sh',
      '-c',
      'command -v node; echo from $MUSTER_POOL; exit 5',
    ]);

    expect(worker).toMatchObject({ name: 'bare', pool: 'manual', phase: 'idle' });
    expect(ran).toMatchObject({ code: 5, out: 'from manual\n' });
    expect(existsSync(join(world.path('bin'), 'node'))).toBe(false);
    expect(world.read('install.log')).not.toContain(token);
  });

  test('beyond loopback everything comes by TLS, with the authority that the server made', async (context) => {
    const world = openWorld(context);
    const pools = [processPool(world, 'local', { max_agents: 1, min_agents: 1 }), { name: 'manual' }];
    const place = await placeServer(world, { agent_pools: pools }, { host: '0.0.0.0' });
    const server = await startServer(world, place).ready();
    await until('the agent is packed before anyone asks', () => server.logged('agent packed').length > 0);
    const ca = world.path('data/ca.pem');
    const token = await joinToken(world);
    const elsewhere = {
      MUSTER_DATA_DIR: world.path('elsewhere'),
      MUSTER_ADDRESS: `https://127.0.0.1:${place.http}`,
      MUSTER_TOKEN: world.read('data/admin.token').trim(),
    };

    const ran = await runCli(world, ['run', '--', 'echo', 'by TLS']);
    const words = ['--pool', 'manual', '--name', 'bare', '--prefix', world.path('prefix'), '--run'];
    const env = { PATH: bareMachine(world), CA: `--cacert ${ca}`, MUSTER_JOIN_TOKEN: token };
    install(world, `https://127.0.0.1:${place.http}`, { words, env });
    const [trusted, untrusted, typed] = await Promise.all([
      runCli(world, ['pool', 'ls', '-o', 'json', '--ca', ca], elsewhere),
      runCli(world, ['pool', 'ls'], elsewhere),
      runCli(world, ['run', '--interactive', '--', 'echo', 'by a socket']),
    ]);
    const plain = await fetch(`http://127.0.0.1:${place.http}/healthz`).catch(() => undefined);
    await until('the bare one has joined', () =>
      server.logged('agent connected').some(({ agent }) => agent === 'bare'),
    );
    const installed = await runCli(world, ['run', '--pool', 'manual', '--', 'sh', '-c', 'echo installed']);

    expect(server.logged('serving')[0]).toMatchObject({
      http: expect.stringMatching(/^https:/),
      grpc: expect.stringMatching(/^https:/),
    });
    expect(ran).toMatchObject({ code: 0, out: 'by TLS\n' });
    expect(JSON.parse(trusted.out)).toHaveLength(2);
    expect(untrusted.code).not.toBe(0);
    expect(untrusted.err).toContain('--ca');
    expect(typed).toMatchObject({ code: 0, out: 'by a socket\n' });
    expect(plain).toBeUndefined();
    expect(installed).toMatchObject({ code: 0, out: 'installed\n' });
    const [machine] = world.agents();
    expect(readFileSync(world.path(`data/machines/${machine}/agent.yaml`), 'utf8')).toMatch(
      /address: https:[\s\S]*BEGIN CERTIFICATE/,
    );
  });

  test('where only HTTP is beyond loopback, the script trusts the server for its download, and the broker is plain', async (context) => {
    const world = openWorld(context);
    const place = await placeServer(world, {});
    const server = { http_address: `0.0.0.0:${place.http}`, grpc_address: `127.0.0.1:${place.grpc}` };
    place.configure({ server, agent_pools: [{ name: 'manual' }] });
    const running = await startServer(world, place).ready();
    const token = await joinToken(world);

    const words = ['--pool', 'manual', '--name', 'bare', '--prefix', world.path('prefix'), '--run'];
    const env = { PATH: bareMachine(world), CA: `--cacert ${world.path('data/ca.pem')}`, MUSTER_JOIN_TOKEN: token };
    install(world, `https://127.0.0.1:${place.http}`, { words, env });
    await until('it has joined', () => running.logged('agent connected').some(({ agent }) => agent === 'bare'));

    expect(world.read('prefix/agent.yaml')).toMatch(/address: 'http:/);
    expect(world.read('prefix/agent.yaml')).not.toContain('CERTIFICATE');
  });

  test('of another kind than the server gets the runtime that the operator has for it; one of a third kind gets an error that says so', async (context) => {
    const world = openWorld(context);
    const [platform, machine, elf] =
      process.arch === 'arm64' ? (['linux-x64', 'x86_64', 62] as const) : (['linux-arm64', 'aarch64', 183] as const);
    // The beginning of an executable for Linux.
    const header = Buffer.alloc(64);
    header.write('\x7fELF', 'latin1');
    header.writeUInt16LE(elf, 18);
    writeFileSync(world.path('other-node'), header);
    const runtimes = { [platform]: world.path('other-node') };
    const place = await placeServer(world, { agent: { runtimes }, agent_pools: [{ name: 'manual' }] });
    await startServer(world, place).ready();
    const bin = bareMachine(world);
    const asMachine = (name: string) => {
      rmSync(join(bin, 'uname'));
      writeFileSync(join(bin, 'uname'), `#!/bin/sh\n[ "$1" = -sm ] && echo Linux ${name}\n`, { mode: 0o755 });
      const words = ['--pool', 'manual', '--prefix', world.path(name)];
      install(world, `http://127.0.0.1:${place.http}`, { words, env: { PATH: bin } });
    };

    asMachine(machine);
    await until('it is installed', () => world.read('install.log').includes('agent installed'));
    asMachine('riscv64');
    await until('it is refused', () => world.read('install.log').includes('riscv64'));

    expect(readFileSync(world.path(`${machine}/node`))).toEqual(header);
    expect(world.read('install.log')).toMatch(
      /offers the agent for Linux \w+, Linux \w+, and this machine is Linux riscv64/,
    );
  });
});
