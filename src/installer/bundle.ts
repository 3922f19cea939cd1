import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '#core/fault.ts';
import { findMade, noteMade } from './bundle-cache.ts';

export interface Bundle {
  readonly path: string;
  readonly sha256: string;
}

const BUNDLER = join(import.meta.dirname, 'bundler.ts');
const run = promisify(execFile);

/** Writes the bundle there; answers the absolute paths of everything that went in. */
async function make(entry: string, version: string, outfile: string): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [BUNDLER, entry, outfile, version]).catch((thrown) => {
    const { stderr, message } = thrown as Error & { stderr?: string };
    throw new Fault('internal', `The agent could not be bundled: ${stderr?.trim() || message}`, { cause: thrown });
  });
  return [...(JSON.parse(stdout) as string[]), import.meta.filename];
}

/** The agent as one file: Node strips no types below node_modules, and one file starts several times faster than a tree. */
export async function bundleAgent(entry: string, folder: string, version: string): Promise<Bundle> {
  const before = findMade(folder, version, entry);
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
