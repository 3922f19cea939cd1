// `@muster/muster/client` of the package: JavaScript and declarations, and the packages that they import.
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = dirname(import.meta.dirname);
const run = promisify(execFile);
const CLIENT_DIR = 'dist/client';

// What the client and its declarations import. npm takes them from the package itself, so that it installs without a network.
const BUNDLED = ['openapi-fetch', 'openapi-typescript-helpers'];

const readPackage = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** For every runtime that has `fetch`: nothing of Node is known to this compilation. */
async function compileClient(folder: string): Promise<void> {
  const language = ['--target', 'es2024', '--lib', 'es2024,dom', '--types', '', '--module', 'nodenext'];
  const strictness = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const output = ['--declaration', '--rewriteRelativeImportExtensions', '--rootDir', 'src/client', '--outDir', folder];
  const words = ['--ignoreConfig', ...language, ...strictness, ...output, 'src/client/client.ts'];
  await run(join(ROOT, 'node_modules/.bin/tsc'), words, { cwd: ROOT });
}

/** Adds the client to the folder of the package. */
export async function addClient(root: string): Promise<void> {
  await compileClient(join(root, CLIENT_DIR));
  const dependencies: Record<string, string> = {};
  for (const name of BUNDLED) {
    const from = join(ROOT, 'node_modules', name);
    cpSync(from, join(root, 'node_modules', name), { recursive: true });
    dependencies[name] = readPackage(from).version;
  }
  const exports = {
    './client': { types: `./${CLIENT_DIR}/client.d.ts`, default: `./${CLIENT_DIR}/client.js` },
    './package.json': './package.json',
  };
  const manifest = { ...readPackage(root), exports, dependencies, bundleDependencies: BUNDLED };
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
