// A registry of images from Debian's package: unpacked, never installed.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { World } from '../../system/harness/world.ts';
import { startDaemon } from './daemon.ts';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const env = process.env as Record<string, string>;

export async function registryProgram(): Promise<Part<{ readonly program: string }>> {
  const folder = join(homedir(), '.cache', 'muster', 'registry-debian');
  const program = join(folder, 'usr/bin/docker-registry');
  if (existsSync(program)) return { program };
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const fetched = await run('apt-get', ['download', 'docker-registry'], { env, cwd: draft });
  const [file] = readdirSync(draft).filter((name) => name.endsWith('.deb'));
  if (file === undefined) return { missing: `docker-registry from Debian (${complaintOf(fetched)})` };
  const unpacked = await run('dpkg-deb', ['-x', join(draft, file), draft], { env });
  if (unpacked.code !== 0) return { missing: `a package that unpacks (${complaintOf(unpacked)})` };
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return { program };
}

export interface Registry {
  /** `127.0.0.1:PORT`, which engines take without TLS. */
  readonly host: string;
  /** The versions of an image that it has. */
  tags(name: string): Promise<readonly string[]>;
}

/** Starts one that ends with its world; `isClosed`: it lets in those alone who have logged in, and nobody can. */
export async function openRegistry(world: World, program: string, { isClosed = false } = {}): Promise<Registry> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const name = `registry-${port}`;
  const users = world.write(`${name}.htpasswd`, 'nobody:!\n');
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: world.path(name) } },
    http: { addr: host, secret: 'for this test alone' },
    ...(isClosed && { auth: { htpasswd: { realm: 'test', path: users } } }),
  };
  startDaemon(world, name, [program, 'serve', world.write(`${name}.yml`, JSON.stringify(config))]);
  await until('the registry answers', async () => (await fetch(`http://${host}/v2/`).catch(() => undefined))?.status);
  return {
    host,
    async tags(image) {
      const answer = await fetch(`http://${host}/v2/${image}/tags/list`);
      return answer.ok ? (((await answer.json()) as { tags?: string[] }).tags ?? []) : [];
    },
  };
}
