import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const env = { PATH: process.env.PATH ?? '' };

/** Debian's Prometheus with its promtool, unpacked and not installed. */
export async function prometheusParts(): Promise<Part<{ readonly promtool: string; readonly prometheus: string }>> {
  const folder = join(homedir(), '.cache', 'muster', 'prometheus-debian');
  const promtool = join(folder, 'usr/bin/promtool');
  const prometheus = join(folder, 'usr/bin/prometheus');
  if (existsSync(promtool)) return { promtool, prometheus };
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const fetched = await run('apt-get', ['download', 'prometheus'], { env, cwd: draft });
  if (fetched.code !== 0) return { missing: `prometheus from Debian (${complaintOf(fetched)})` };
  for (const file of readdirSync(draft)) {
    const unpacked = await run('dpkg-deb', ['-x', join(draft, file), draft], { env });
    if (unpacked.code !== 0) return { missing: `a package that unpacks (${complaintOf(unpacked)})` };
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return { promtool, prometheus };
}
