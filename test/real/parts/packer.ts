// Packer from Debian's package: unpacked, never installed. It has all its builders compiled in.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Programs } from '#core/programs.ts';
import { openPrograms } from '#host/run-program.ts';
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

/** The programs of this machine as a builder runs them, with this Packer first along the path. */
export const programsOf = ({ program }: PackerParts, path: string): Programs =>
  openPrograms({
    clock: systemClock,
    variable: (name) => (name === 'PATH' ? [dirname(program), path].join(delimiter) : process.env[name]),
  });
