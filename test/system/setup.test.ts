import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readlinkSync } from 'node:fs';
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

function setUp(world: World): ChildProcess {
  for (const name of ['package.json', 'tools']) cpSync(join(ROOT, name), world.path(name), { recursive: true });
  world.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  mkdirSync(world.path('node_modules/.bin'), { recursive: true });
  const env = { ...world.env, npm_execpath: world.write('npm.js', NPM), npm_node_execpath: process.execPath };
  return spawn(process.execPath, [world.path('tools/setup.mjs')], { env, stdio: 'ignore' });
}

/** What the command for npx answers; undefined while there is none. */
async function command(world: World): Promise<{ readonly code: number; readonly text: string } | undefined> {
  if (!existsSync(world.path('node_modules/.bin/muster'))) return undefined;
  return promisify(execFile)(world.path('node_modules/.bin/muster'), ['pool', 'ls'], { env: { ...world.env } }).then(
    () => ({ code: 0, text: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  );
}

test('while the packages are being installed, muster says so and asks to try again; afterwards it is the real one', async (context) => {
  const world = openWorld(context);
  const running = setUp(world);
  const ended = new Promise((resolve) => running.once('exit', resolve));
  await until('npm has emptied node_modules', () => existsSync(world.path('emptied')));

  const meanwhile = await until('the command is there', () => command(world));
  world.write('go', '');

  expect(meanwhile).toEqual({ code: 75, text: expect.stringContaining('npm is still installing the packages') });
  expect(await ended).toBe(0);
  expect(readlinkSync(world.path('node_modules/.bin/muster'))).toBe('../../tools/muster.mjs');
});

test('after an installation that was interrupted, muster says what to do', async (context) => {
  const world = openWorld(context);
  const running = setUp(world);
  const ended = new Promise((resolve) => running.once('exit', resolve));
  await until('npm has emptied node_modules', () => existsSync(world.path('emptied')));
  await until('the command is there', () => command(world));

  running.kill('SIGKILL');
  await ended;

  expect(await command(world)).toEqual({ code: 1, text: expect.stringContaining('Run "npm start" in this folder') });
});

test('muster reads a file of variables itself, not the Node that runs it', async () => {
  const words = ['run', '--env-file', '/nowhere/build.env', '--', 'env'];
  const { stderr } = await promisify(execFile)(join(ROOT, 'tools/muster.mjs'), words).catch(
    (thrown: { stderr: string }) => thrown,
  );

  expect(stderr).toContain('--env-file /nowhere/build.env cannot be read');
});
