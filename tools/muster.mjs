#!/usr/bin/env node
// The command `muster`, run from a checkout.
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split('.').map(Number);
if (typeof nodeModule.register !== 'function' || major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `Muster needs Node 24.15 or newer, this is ${process.version}. Run "npm start" or "npm ci" once in ${root}: it fetches one, which "npx muster" then uses.`,
  );
  process.exit(1);
}
// Before any TypeScript is read: from the second start on its compiler need not even be loaded.
nodeModule.enableCompileCache();
await import(pathToFileURL(join(root, 'src/main.ts')).href);
