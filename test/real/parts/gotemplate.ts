// Go's own text/template with Sprig, built from a small program beside this file.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runWithInput } from './input.ts';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const MODULE = join(import.meta.dirname, 'gotemplate');

export interface GoTemplates {
  /** What it writes for the cases on its input. */
  render(words: readonly string[], input: string): Promise<string>;
}

/** The program, from the cache or built now. */
export async function goTemplates(): Promise<Part<GoTemplates>> {
  const env = { ...(process.env as Record<string, string>), GOFLAGS: '-mod=readonly -buildvcs=false', TZ: 'UTC' };
  const version = await run('go', ['version'], { env });
  if (version.code !== 0) return { missing: 'Go 1.26' };
  const made = createHash('sha256').update(version.out);
  for (const file of ['go.mod', 'go.sum', 'main.go']) made.update(readFileSync(join(MODULE, file)));
  const folder = join(homedir(), '.cache', 'muster');
  const program = join(folder, `gotemplate-${made.digest('hex').slice(0, 12)}`);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const building = `${program}.${process.pid}`;
    const built = await run('go', ['build', '-trimpath', '-o', building, '.'], { cwd: MODULE, env });
    if (built.code !== 0) return { missing: `Sprig from the Go module proxy (${complaintOf(built)})` };
    renameSync(building, program);
  }
  return { render: (words, input) => runWithInput(program, words, input, env) };
}
