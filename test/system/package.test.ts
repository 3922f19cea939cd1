// What `npm run package` makes, installed as users do it. The archive has a stand-in for the Node that is fetched for it.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { untilHolds } from '#core/testing/until.ts';
import { makePackageRoot, makeTarball, packFolder, writeInstaller } from '../../scripts/package.ts';
import { type CliResult, runProgram, startProgram } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, ROOT } from './harness/world.ts';

const OPTIONS = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
const scratch = mkdtempSync(join(tmpdir(), 'muster-package-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made: Promise<string> | undefined;

/** The package for npm, made once for all tests. */
function tarballFile(): Promise<string> {
  made ??= makePackageRoot(scratch).then(async (root) => join(scratch, await makeTarball(root, scratch)));
  return made;
}

test('the tarball installs by npm alone: a server in one folder, a run from another, and one line on an old Node', async (context) => {
  const world = openWorld(context);
  const tarball = await tarballFile();
  const prefix = world.path('prefix');

  const installed = await runProgram(world, 'npm', ['install', '--global', '--prefix', prefix, ...OPTIONS, tarball]);
  expect(installed).toMatchObject({ code: 0, err: '' });
  const command = join(prefix, 'bin/muster');
  const pool = processPool(world, 'local', { max_agents: 1 });
  const { file, http } = await placeServer(world, { agent_pools: [pool] }, { isFirstStart: true });
  startProgram(world, command, ['server', '--config', file]);
  await untilHolds(async () => expect(await runProgram(world, command, ['status'])).toMatchObject({ code: 0 }));
  const elsewhere = world.path('elsewhere');
  mkdirSync(elsewhere);
  const words = ['-c', `cd '${elsewhere}' && unset MUSTER_DATA_DIR && exec '${command}' run -- echo from the package`];
  const ran = await runProgram(world, 'sh', words);
  expect(ran).toMatchObject({ code: 0, out: 'from the package\n' });
  // The thread of the model is a file of its own in the package.
  const computed = await runProgram(world, command, ['whatif', 'local', '--sessions', '10/h', '--lasting', '1m']);
  expect(computed).toMatchObject({ code: 0, out: expect.stringMatching(/^Pool local, .*\nmachines launched +[1-9]/s) });
  // New machines get the agent from it.
  const script = await fetch(`http://127.0.0.1:${http}/agent/install.sh`);
  expect(script.status).toBe(200);
  expect(await script.text()).toContain('.tar.gz');

  const old = world.write('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '20.1.0' });");
  const refused = await startProgram(world, command, ['pool', 'ls'], { NODE_OPTIONS: `--require ${old}` }).ended;
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/^muster: Node 24\.15 or newer is needed, this is v.*archive.*, which has its own\.\n$/);
});

test('the example of the client compiles and runs with the tarball alone, and its types refuse an unknown path', async (context) => {
  const world = openWorld(context);
  const folder = world.path('sweep');
  const words = ['install', '--prefix', folder, ...OPTIONS, await tarballFile()];
  cpSync(join(ROOT, 'examples/client-example'), folder, { recursive: true });
  expect(await runProgram(world, 'npm', words)).toMatchObject({ code: 0, err: '' });
  const place = await placeServer(world, { agent_pools: [processPool(world, 'local', { max_agents: 1 })] });
  await startServer(world, place).ready();

  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
  const compile = () => runProgram(world, join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder, ...types]);
  const sweep = (token: string): Promise<CliResult> => {
    const env = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}`, MUSTER_TOKEN: token };
    return startProgram(world, process.execPath, [join(folder, 'sweep.ts')], env).ended;
  };
  const compiled = await compile();
  const ran = await sweep(readFileSync(join(world.dataDir, 'admin.token'), 'utf8').trim());
  const refused = await sweep('no-token');
  const [client, call] = ["import { createMusterClient } from '@muster/muster/client';", "GET('/api/v1/puls', {})"];
  world.write('sweep/wrong.ts', `${client}\nvoid createMusterClient({ address: '' }).${call};\n`);
  const wrong = await compile();

  expect(compiled).toEqual({ code: 0, out: '', err: '' });
  expect(ran).toEqual({ code: 0, out: 'seed 1\nseed 2\nseed 3\n', err: '' });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('token') });
  expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/^[^\n]*wrong\.ts\(2,[^\n]*puls/) });
});

test('the example of a platform compiles and runs with the tarball alone, and the library names the Node that it needs', async (context) => {
  const world = openWorld(context);
  const folder = world.path('own');
  cpSync(join(ROOT, 'examples/computers-example'), folder, { recursive: true });
  const words = ['install', '--prefix', folder, ...OPTIONS, await tarballFile()];
  expect(await runProgram(world, 'npm', words)).toMatchObject({ code: 0, err: '' });
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
  const compile = () => runProgram(world, join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder, ...types]);

  const compiled = await compile();
  const port = await freePort();
  const ran = await runProgram(world, process.execPath, [join(folder, 'run.ts'), String(port)]);
  const box = "import { DockerProvisioner } from '@muster/muster/computers';\n";
  world.write('own/wrong.ts', `${box}new DockerProvisioner({ containrName: 'box' });\n`);
  const wrong = await compile();
  const status = world.write('own/status.mjs', `${box}console.log(new DockerProvisioner().getStatus());\n`);
  const said = await runProgram(world, process.execPath, [status]);
  const old = world.write('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '22.1.0' });");
  const refused = await startProgram(world, process.execPath, [status], { NODE_OPTIONS: `--require ${old}` }).ended;

  expect(compiled).toEqual({ code: 0, out: '', err: '' });
  const lines = ['not_started', 'MyCustomProvisioner: Starting setup…', 'running true', 'stopped false', ''];
  expect(ran).toEqual({ code: 0, out: lines.join('\n'), err: '' });
  expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/^[^\n]*wrong\.ts\(2,[^\n]*containrName/) });
  expect(said).toEqual({ code: 0, out: 'not_started\n', err: '' });
  expect(refused.err).toContain('@muster/muster/computers needs Node 24.15 or newer, this is v');
});

test('the install script takes only an archive with the right checksum, and its command runs by the Node of the archive', async (context) => {
  const world = openWorld(context);
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  world.write('tree/muster/bin/node', `#!/bin/sh\necho "own Node: $*"\n`, 0o755);
  world.write('tree/muster/bin/muster', '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/node" "$@"\n', 0o755);
  const archive = `muster-linux-${arch}.tar.gz`;
  await packFolder(world.path('tree/muster'), world.path(archive));
  await writeInstaller(world.folder, [archive]);
  const install = () => runProgram(world, 'sh', [world.path('install.sh'), world.path('usr')]);

  const twice = [await install(), await install()];
  const ran = await runProgram(world, world.path('usr/bin/muster'), ['pool', 'ls']);
  world.write(archive, 'other bytes');
  const refused = await install();

  const said = `Installed ${world.path('usr/bin/muster')}, version own Node: --version.\n`;
  expect(twice).toEqual([
    { code: 0, out: said, err: '' },
    { code: 0, out: said, err: '' },
  ]);
  expect(ran.out).toBe('own Node: pool ls\n');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('does not have the checksum') });
  expect((await runProgram(world, world.path('usr/bin/muster'), [])).code).toBe(0);
});

test('the systemd unit runs the installed command, from where npm and the install script put it', () => {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/muster.service'), 'utf8');

  expect(unit).toContain('ExecStart=/usr/bin/env muster server --config /etc/muster/config.yaml\n');
  expect(unit).toMatch(/^Environment=PATH=.*:\/usr\/local\/bin:.*:\/usr\/bin:/m);
});
