// A program of its own, so that what a bundler takes in memory goes with it: node bundler.ts ENTRY OUTFILE VERSION.
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';

// CommonJS packages inside a module bundle ask for `require`, which a module does not have.
const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

const [entry = '', outfile = '', version = ''] = process.argv.slice(2);
const absWorkingDir = dirname(entry);
const { metafile } = await build({
  entryPoints: [entry],
  absWorkingDir,
  outfile,
  bundle: true,
  metafile: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minifySyntax: true,
  define: { MUSTER_VERSION: JSON.stringify(version) },
  banner: { js: BANNER },
});
const inputs = Object.keys(metafile.inputs).map((input) => resolve(absWorkingDir, input));
process.stdout.write(JSON.stringify([...inputs, import.meta.filename]));
