// Clients of clouds for Node that others wrote, in a folder of their own below the project's cache.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface Clients {
  /** Below it is `node_modules`. */
  readonly folder: string;
}

/** As pinned, each as `name@version`: fetched once, then found. */
export async function npmClients(cloud: string, packages: readonly string[]): Promise<Part<Clients>> {
  const wanted = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12);
  const folder = join(ROOT, '.cache', 'real', `${cloud}-${wanted}`);
  const done = join(folder, 'installed');
  if (existsSync(done)) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const words = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', ...packages];
  const ran = await run('npm', words, { env: { ...process.env } as Record<string, string>, cwd: folder });
  if (ran.code !== 0) return { missing: `${packages.join(' and ')} from npm (${complaintOf(ran)})` };
  writeFileSync(done, '');
  return { folder };
}
