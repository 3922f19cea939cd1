import { hash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '#core/fault.ts';
import { findMade, noteMade } from './made-before.ts';

export interface Bundle {
  readonly path: string;
  readonly sha256: string;
}

// CommonJS packages inside a module bundle ask for `require`, which a module does not have.
const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Writes the bundle there; answers the absolute paths of everything that went in. */
async function make(entry: string, version: string, outfile: string): Promise<readonly string[]> {
  // Only here: most starts find what an earlier one has made.
  const { build, stop } = await import('esbuild');
  const absWorkingDir = dirname(entry);
  const result = await build({
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
    logLevel: 'silent',
  })
    .catch((thrown: Error) => {
      throw new Fault('internal', `The agent could not be bundled: ${thrown.message}`, { cause: thrown });
    })
    // The bundler keeps a process of its own for the next time, and there is none.
    .finally(() => void stop());
  const inputs = Object.keys(result.metafile.inputs).map((input) => resolve(absWorkingDir, input));
  return [...inputs, import.meta.filename];
}

/** The agent as one file: Node strips no types below node_modules, and one file starts several times faster than a tree. */
export async function bundleAgent(entry: string, folder: string, version: string): Promise<Bundle> {
  const before = findMade(folder, version);
  if (before) return before;
  await mkdir(folder, { recursive: true });
  // Replicas may share the folder, and bundle at the same time.
  const draft = join(folder, `draft-${process.pid}.mjs`);
  const files = await make(entry, version, draft);
  const sha256 = hash('sha256', await readFile(draft));
  // The name carries the hash: an agent that runs from an older file is never pulled from under its feet.
  const path = join(folder, `agent-${sha256.slice(0, 12)}.mjs`);
  await rename(draft, path);
  await noteMade(folder, { path, sha256 }, { version, files });
  return { path, sha256 };
}
