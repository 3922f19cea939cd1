// `@muster/muster/computers` of the package: the bundle is one of the server's, so this adds its entry and its declarations.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = dirname(import.meta.dirname);
const run = promisify(execFile);
const FOLDER = 'dist/computers';
const ENTRY = 'library/computers';

/** Declarations of all that the library imports; what is marked `@internal` is left out. */
async function declare(folder: string): Promise<void> {
  const language = ['--target', 'es2024', '--lib', 'es2024,esnext.disposable,esnext.iterator', '--types', 'node'];
  const modules = ['--module', 'nodenext', '--allowImportingTsExtensions', '--erasableSyntaxOnly'];
  const strictness = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const output = ['--declaration', '--emitDeclarationOnly', '--stripInternal', '--rootDir', 'src', '--outDir', folder];
  const words = ['--ignoreConfig', ...language, ...modules, ...strictness, ...output, `src/${ENTRY}.ts`];
  await run(join(ROOT, 'node_modules/.bin/tsc'), words, { cwd: ROOT });
}

const IMPORT = /(?<=from ')(\.{1,2}\/|#)([^']+)(?=')/g;

/** Copies a declaration and those that it needs; imports by `#` become relative, since they are the checkout's own. */
function copyWithImports(from: string, to: string, path: string, seen = new Set<string>()): void {
  if (seen.has(path)) return;
  seen.add(path);
  const text = readFileSync(join(from, path), 'utf8');
  const written = text.replace(IMPORT, (_all, start: string, rest: string) => {
    const target = start === '#' ? join(from, rest) : resolve(from, dirname(path), start + rest);
    const file = relative(from, target).replace(/\.ts$/, '.d.ts');
    copyWithImports(from, to, file, seen);
    const step = relative(dirname(path), relative(from, target).replace(/\.ts$/, '.js'));
    return step.startsWith('.') ? step : `./${step}`;
  });
  mkdirSync(dirname(join(to, path)), { recursive: true });
  writeFileSync(join(to, path), written);
}

/** Adds the library to the folder of the package. */
export async function addComputers(root: string): Promise<void> {
  const to = join(root, FOLDER);
  const scratch = mkdtempSync(join(tmpdir(), 'muster-declarations-'));
  try {
    await declare(scratch);
    copyWithImports(scratch, to, `${ENTRY}.d.ts`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  for (const name of ['computers.mjs', 'check-node.mjs']) cpSync(join(ROOT, 'scripts/computers', name), join(to, name));
  const file = join(root, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const computers = { types: `./${FOLDER}/${ENTRY}.d.ts`, default: `./${FOLDER}/computers.mjs` };
  manifest.exports = { ...manifest.exports, './computers': computers };
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
