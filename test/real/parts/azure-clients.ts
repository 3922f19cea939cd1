// Azure's own clients for Node, in a folder of their own below the project's cache.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PACKAGES = ['@azure/arm-compute@24.1.0', '@azure/app-configuration@1.12.1'];

export interface Clients {
  /** Below it is `node_modules`. */
  readonly folder: string;
}

/** As pinned: fetched once, then found. */
export async function azureClients(): Promise<Part<Clients>> {
  const wanted = createHash('sha256').update(PACKAGES.join()).digest('hex').slice(0, 12);
  const folder = join(ROOT, '.cache', 'real', `azure-${wanted}`);
  const done = join(folder, 'installed');
  if (existsSync(done)) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const words = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', ...PACKAGES];
  const ran = await run('npm', words, { env: { ...process.env } as Record<string, string>, cwd: folder });
  if (ran.code !== 0) return { missing: `${PACKAGES.join(' and ')} from npm (${complaintOf(ran)})` };
  writeFileSync(done, '');
  return { folder };
}
