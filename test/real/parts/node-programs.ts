// containerd, runc and the network plug-ins of a node, from Debian's packages: unpacked, never installed.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { packImages, packServerImage } from './node-image.ts';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins', 'busybox-static'];
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids'];

export interface NodeParts {
  /** Where the packages are unpacked: `usr/bin`, `usr/sbin`, `usr/lib/cni`. */
  readonly folder: string;
  readonly busybox: string;
}

/** What a machine lacks for a node; undefined where nothing. */
async function lackOf(): Promise<string | undefined> {
  const env = process.env as Record<string, string>;
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Linux on x64';
  const isV1 = CONTROLLERS.every((name) => existsSync(`/sys/fs/cgroup/${name}`));
  if (!isV1) return 'cgroup v1, which this test is written for';
  for (const [program, ...words] of [
    ['unshare', '--net', '--mount', '--pid', '--uts', '--fork', 'true'],
    ['gcc', '--version'],
    ['nsenter', '--version'],
    ['ip', '-V'],
  ] as const) {
    const ran = await run(program, words, { env });
    if (ran.code !== 0) return `${program} with the rights of root (${complaintOf(ran)})`;
  }
  return undefined;
}

export async function nodeParts(): Promise<Part<NodeParts>> {
  const lack = await lackOf();
  if (lack !== undefined) return { missing: lack };
  const folder = join(homedir(), '.cache', 'muster', 'node-debian');
  const busybox = join(folder, 'bin/busybox');
  if (existsSync(busybox)) return { folder, busybox };
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const env = process.env as Record<string, string>;
  const fetched = await run('apt-get', ['download', ...PACKAGES], { env, cwd: draft });
  if (fetched.code !== 0) return { missing: `${PACKAGES.join(', ')} from Debian (${complaintOf(fetched)})` };
  for (const file of readdirSync(draft).filter((name) => name.endsWith('.deb'))) {
    const unpacked = await run('dpkg-deb', ['-x', join(draft, file), draft], { env });
    if (unpacked.code !== 0) return { missing: `a package that unpacks (${complaintOf(unpacked)})` };
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return { folder, busybox };
}

/** The images of a node, made anew for each run: agent and server are those of this checkout. */
export async function packNodeImages(folder: string, { busybox }: NodeParts, hasServer: boolean): Promise<void> {
  await packImages(folder, busybox);
  if (hasServer) await packServerImage(folder, busybox);
}
