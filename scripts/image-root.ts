// What the images hold below /opt/muster: node scripts/image-root.ts server|agent FOLDER. The Dockerfiles run it, package.ts and
// tests.
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { bundleDashboard } from '../src/installer/dashboard.ts';
import { readCommit, readVersion } from '../src/program/version.ts';

const ROOT = dirname(import.meta.dirname);
const SOURCES = join(ROOT, 'src/');
const run = promisify(execFile);

/** Where the program is in the folder: `readVersion` finds the package two folders up, as in the checkout. */
const PROGRAM_DIR = 'dist/server';

// CommonJS packages inside a module bundle ask for `require`, which a module does not have.
const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** The program, its library, its threads and the `curl` of simulated machines stand side by side: each is found by the URL of the others. */
const ENTRIES = [
  'src/main.ts',
  'src/library/computers.ts',
  'src/program/store-thread.mjs',
  'src/config/yaml-thread.mjs',
  'src/foresight/model-thread.mjs',
  'src/fakes/boot/curl.mjs',
];

/**
 * A package in CommonJS that is imported when it is needed would have no named exports in a bundle of
 * several files. So each such import of ours leads to a module that names what the package exports.
 */
const namedExports: Plugin = {
  name: 'named exports',
  setup(builder) {
    builder.onResolve({ filter: /^[a-z@]/ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && importer.startsWith(SOURCES) && !isBuiltin(path)
        ? { path, namespace: 'named' }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'named' }, async ({ path }) => {
      const all = Object.keys((await import(path)) as object);
      const names = all.filter((name) => name !== 'default' && /^[A-Za-z_$][\w$]*$/.test(name));
      const from = JSON.stringify(path);
      const contents = [
        `import * as whole from ${from};`,
        `export { ${names.join(', ')} } from ${from};`,
        'export default whole.default ?? whole;',
      ].join('\n');
      return { contents, resolveDir: ROOT };
    });
  },
};

async function bundleServer(folder: string): Promise<void> {
  await build({
    entryPoints: ENTRIES.map((path) => join(ROOT, path)),
    absWorkingDir: ROOT,
    outdir: join(folder, PROGRAM_DIR),
    entryNames: '[name]',
    chunkNames: 'chunk-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Commands load only what they need, as they do in the checkout.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifySyntax: true,
    // An optional add-on of pg that is not installed.
    external: ['pg-native'],
    banner: { js: BANNER },
    plugins: [namedExports],
    logLevel: 'error',
  });
  writeManifest(folder);
}

/** The package of what is made: it needs no other package, and has no scripts. */
function writeManifest(folder: string): void {
  const { name, version, description, license, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    commit: readCommit(),
    bin: { muster: 'bin/muster' },
    engines: { node: '>=24.15' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function bundleAgent(outfile: string): Promise<void> {
  const bundler = join(ROOT, 'src/installer/bundler.ts');
  await run(process.execPath, [bundler, join(ROOT, 'src/program/agent.ts'), outfile, readVersion()]);
}

/**
 * A command `muster`, by the Node beside it if there is one. Without `--`, Node takes an `--env-file` behind the program
 * for its own (https://github.com/nodejs/node/issues/54232).
 */
function writeCommand(folder: string, program: string): void {
  const path = join(folder, 'bin/muster');
  mkdirSync(dirname(path), { recursive: true });
  const lines = [
    '#!/bin/sh',
    'here=$(dirname "$(readlink -f "$0")")',
    'node=$here/node',
    '[ -x "$node" ] || node=node',
    `exec "$node" -- "$here/../${program}" "$@"`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
}

/** The server, with the agent that it hands to new machines. */
export async function makeServerRoot(folder: string): Promise<void> {
  await bundleServer(folder);
  await bundleAgent(join(folder, PROGRAM_DIR, 'agent.mjs'));
  await bundleDashboard(join(folder, PROGRAM_DIR, 'dashboard'));
  cpSync(join(ROOT, 'scripts/launcher.mjs'), join(folder, PROGRAM_DIR, 'launcher.mjs'));
  writeCommand(folder, `${PROGRAM_DIR}/launcher.mjs`);
}

/** The agent alone: its bundle is the program, so that `--pool=x` is all that it needs. */
export async function makeAgentRoot(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await bundleAgent(join(folder, 'agent.mjs'));
  writeCommand(folder, 'agent.mjs');
}

if (import.meta.main) {
  const [image, folder] = process.argv.slice(2);
  const make = image === 'server' ? makeServerRoot : image === 'agent' ? makeAgentRoot : undefined;
  if (make && folder !== undefined) await make(folder);
  else {
    console.error('Usage: node scripts/image-root.ts server|agent FOLDER');
    process.exitCode = 2;
  }
}
