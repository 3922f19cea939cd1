#!/bin/sh
//usr/bin/env true; own="$(dirname "$(readlink -f "$0")")/../node_modules/.bin/node"; [ -x "$own" ] || own=node; exec "$own" -- "$0" "$@"
// The command `muster` of a checkout, for `npm start`, `npx muster` and `npm install --global .`. The line above is for the
// shell: it takes the Node that the checkout has fetched, if any. Without `--`, Node takes an `--env-file` behind the program
// for its own, and ends where there is no such file (https://github.com/nodejs/node/issues/54232).
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EX_TEMPFAIL = 75;
const file = fileURLToPath(import.meta.url);
const root = dirname(dirname(file));
const ownNode = join(root, 'node_modules/.bin/node');
const installing = join(root, '.installing'); // setup.mjs writes its process id there, and removes it when all is installed
const [major, minor] = process.versions.node.split('.').map(Number);
const isTooOld = typeof nodeModule.register !== 'function' || major < 24 || (major === 24 && minor < 15);

function end(status, text) {
  console.error(`muster: ${text}`);
  process.exit(status);
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return thrown.code === 'EPERM';
  }
}

/** Node 20 cannot replace its own process, so this one stays and passes on what others send to it. */
function runByOwnNode() {
  const child = spawn(ownNode, ['--', file, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {}); // A terminal sends it to both.
  child.on('exit', (code, signal) => {
    process.removeAllListeners(signal);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}

async function runHere() {
  // Before any TypeScript is read: from the second start on its compiler need not even be loaded.
  nodeModule.enableCompileCache();
  try {
    await import(pathToFileURL(join(root, 'src/main.ts')).href);
  } catch (thrown) {
    if (thrown.code !== 'ERR_MODULE_NOT_FOUND' || existsSync(join(root, 'node_modules/.package-lock.json')))
      throw thrown;
    end(1, `the packages are not installed. Run "npm start" in this folder:\n${root}`);
  }
}

if (existsSync(installing)) {
  if (isAlive(Number(readFileSync(installing, 'utf8'))))
    end(EX_TEMPFAIL, 'npm is still installing the packages. Try again in a minute.');
  end(1, `the packages are not installed: the last attempt did not finish. Run "npm start" in this folder:\n${root}`);
}
if (!isTooOld) await runHere();
else if (existsSync(ownNode) && realpathSync(ownNode) !== process.execPath) runByOwnNode();
else
  end(
    1,
    `Node 24.15 or newer is needed, this is ${process.version}. Run "npm start" once in this folder, it installs a newer one:\n${root}`,
  );
