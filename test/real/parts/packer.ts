// Packer from Debian's package: unpacked, never installed. It has all its builders compiled in.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProgramEnd, Programs } from '#core/programs.ts';
import type { Part } from './part.ts';
import { complaintOf, type Ran, run } from './run.ts';

const env = process.env as Record<string, string>;

export interface PackerParts {
  readonly program: string;
  /** `1.6.6`. */
  readonly version: string;
}

export async function packerParts(): Promise<Part<PackerParts>> {
  const folder = join(homedir(), '.cache', 'muster', 'packer-debian');
  const program = join(folder, 'usr/bin/packer');
  if (!existsSync(program)) {
    const draft = `${folder}.draft`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    const fetched = await run('apt-get', ['download', 'packer'], { env, cwd: draft });
    const [file] = readdirSync(draft).filter((name) => name.endsWith('.deb'));
    if (file === undefined) return { missing: `packer from Debian (${complaintOf(fetched)})` };
    const unpacked = await run('dpkg-deb', ['-x', join(draft, file), draft], { env });
    if (unpacked.code !== 0) return { missing: `a package that unpacks (${complaintOf(unpacked)})` };
    rmSync(join(draft, file));
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  }
  const asked = await run(program, ['version'], { env: { CHECKPOINT_DISABLE: '1', HOME: '/tmp' } });
  const version = /^Packer v([\d.]+)/.exec(asked.out)?.[1];
  return version === undefined ? { missing: `a Packer that starts (${complaintOf(asked)})` } : { program, version };
}

/** Runs it as a builder does: with these variables and a path, and nothing else. */
export const packer = (
  { program }: PackerParts,
  words: readonly string[],
  { folder, more = {} }: { readonly folder: string; readonly more?: Readonly<Record<string, string>> },
): Promise<Ran> =>
  run(program, words, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, PACKER_CONFIG_DIR: folder, CHECKPOINT_DISABLE: '1', ...more },
  });

/** The programs of a builder that lets this Packer work, which finds these variables beside its own. */
export const programsOf = ({ program }: PackerParts, more: Readonly<Record<string, string>>): Programs => ({
  find: (name) => (name === 'packer' ? program : undefined),
  run: (call, signal) =>
    new Promise<ProgramEnd>((resolve, reject) => {
      const own = { PATH: process.env.PATH ?? '', HOME: call.folder, ...more, ...call.env };
      const child = spawn(program, call.args, {
        cwd: call.folder,
        env: own,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      // As Ctrl-C does: Packer is two processes, and the first one passes no interrupt on to the second.
      const interrupt = (): void => void process.kill(-(child.pid as number), 'SIGINT');
      signal.addEventListener('abort', interrupt, { once: true });
      createInterface({ input: child.stdout }).on('line', (line) => call.line?.(line, 'stdout'));
      createInterface({ input: child.stderr }).on('line', (line) => call.line?.(line, 'stderr'));
      child.once('error', reject);
      child.once('close', (code, killedBy) =>
        resolve({ code: code ?? undefined, ...(killedBy !== null && { signal: killedBy }) }),
      );
    }),
});
