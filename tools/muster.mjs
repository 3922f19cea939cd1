#!/bin/sh
//usr/bin/env true; exec node -- "$0" "$@"
// The command `muster`, run from a checkout. The line above is for the shell: without `--`, Node takes an `--env-file` behind
// the program for its own, and ends where there is no such file (https://github.com/nodejs/node/issues/54232).
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split('.').map(Number);
if (typeof nodeModule.register !== 'function' || major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `Muster needs Node 24.15 or newer, this is ${process.version}. Run "npm start" or "npm ci" in ${root} once: it installs a newer Node, which "npx muster" then uses.`,
  );
  process.exit(1);
}
// Before any TypeScript is read: from the second start on its compiler need not even be loaded.
nodeModule.enableCompileCache();
try {
  await import(pathToFileURL(join(root, 'src/main.ts')).href);
} catch (thrown) {
  if (thrown.code !== 'ERR_MODULE_NOT_FOUND' || existsSync(join(root, 'node_modules/.package-lock.json'))) throw thrown;
  console.error(`muster: the packages are not installed. Run "npm start" in this folder:\n${root}`);
  process.exit(1);
}
