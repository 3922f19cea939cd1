import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '#core/fault.ts';
import { findMade, noteMade } from './bundle-cache.ts';

const BUNDLER = join(import.meta.dirname, 'dashboard-bundler.ts');
const ENTRY = join(import.meta.dirname, '../web/main.tsx');
const LIST = 'files.json';
const run = promisify(execFile);

/** One file of the dashboard, packed with gzip once and for all. */
export interface DashboardFile {
  readonly mediaType: string;
  readonly gzipped: Buffer;
}

/** The files of the dashboard: `index.html`, and what it names by names with hashes. */
export interface Dashboard {
  find(name: string): Promise<DashboardFile | undefined>;
}

/** Bundles the dashboard into that folder; answers what it was made from. */
export async function bundleDashboard(folder: string): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [BUNDLER, folder]).catch((thrown) => {
    const { stderr, message } = thrown as Error & { stderr?: string };
    throw new Fault('internal', `The dashboard could not be bundled: ${stderr?.trim() || message}`, { cause: thrown });
  });
  return [...(JSON.parse(stdout) as string[]), import.meta.filename];
}

/** The folder with the bundle, made in `cache` unless it was made there before from the same files. */
async function made(cache: string, version: string): Promise<string> {
  const before = findMade(cache, version, ENTRY);
  if (before) return dirname(before.path);
  await mkdir(cache, { recursive: true });
  // Replicas may share the folder, and bundle at the same time.
  const draft = join(cache, `draft-${process.pid}`);
  const files = await bundleDashboard(draft);
  const sha256 = hash('sha256', await readFile(join(draft, LIST)));
  const folder = join(cache, sha256.slice(0, 12));
  const others = (await readdir(cache)).filter((name) => /^[0-9a-f]{12}$/.test(name));
  for (const name of others) await rm(join(cache, name), { recursive: true, force: true });
  await rename(draft, folder);
  await noteMade(cache, { path: join(folder, LIST), sha256 }, { version, files });
  return folder;
}

export interface DashboardPlace {
  /** A folder with a bundle that the package brings. */
  readonly packaged?: string | undefined;
  /** Where a checkout keeps its bundle. */
  readonly cache: string;
  readonly version: string;
}

/** Nothing is made or read before a browser asks; then all of it stays in memory. */
export function openDashboard({ packaged, cache, version }: DashboardPlace): Dashboard {
  let read: Promise<ReadonlyMap<string, DashboardFile>> | undefined;

  async function readAll(): Promise<ReadonlyMap<string, DashboardFile>> {
    const folder = packaged ?? (await made(cache, version));
    const types = JSON.parse(await readFile(join(folder, LIST), 'utf8')) as Readonly<Record<string, string>>;
    const files = new Map<string, DashboardFile>();
    for (const [name, mediaType] of Object.entries(types))
      files.set(name, { mediaType, gzipped: await readFile(join(folder, `${name}.gz`)) });
    return files;
  }

  return {
    async find(name) {
      read ??= readAll();
      read.catch(() => (read = undefined));
      return (await read).get(name);
    },
  };
}
