// The images of the project's own Dockerfiles, on a base made of this machine's Node: no registry of images is asked.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, type World } from '../../system/harness/world.ts';
import type { DockerEngine, DockerParts } from './docker.ts';
import { addBase } from './node-image.ts';
import type { Part } from './part.ts';
import { complaintOf, run, runWell } from './run.ts';

/** The base of both Dockerfiles, under the name that they have for it. */
const BASE = 'node:24-bookworm-slim';
const CA = '/etc/ssl/certs/ca-certificates.crt';
const env = process.env as Record<string, string>;

/** The folder of npm's own package, wherever its command leads. */
async function npmFolder(): Promise<string | undefined> {
  const { out } = await run('sh', ['-c', 'command -v npm'], { env });
  const script = out.trim() === '' ? '' : realpathSync(out.trim());
  const folder = dirname(dirname(script));
  return existsSync(join(folder, 'bin/npm-cli.js')) ? folder : undefined;
}

/** Makes the base image, with npm and whom this machine trusts. */
async function importBase(world: World, engine: DockerEngine, busybox: string, npm: string): Promise<void> {
  const root = world.path('base-root');
  await addBase(root, busybox);
  for (const place of ['usr/lib/node_modules', 'etc/ssl/certs', 'root', 'var/lib', 'proc', 'sys', 'dev'])
    mkdirSync(join(root, place), { recursive: true });
  symlinkSync('../../bin/env', join(root, 'usr/bin/env'));
  cpSync(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  const trusted = [process.env.NODE_EXTRA_CA_CERTS, CA].find((path) => path && existsSync(path));
  if (trusted) copyFileSync(trusted, join(root, CA));
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  const archive = world.path('base.tar');
  await runWell('tar', ['-C', root, '--owner=0', '--group=0', '--numeric-owner', '-cf', archive, '.'], { env });
  const registry = (await run('npm', ['config', 'get', 'registry'], { env })).out.trim();
  const settings = [
    'PATH=/usr/local/bin:/usr/bin:/bin',
    `NODE_EXTRA_CA_CERTS=${CA}`,
    `npm_config_registry=${registry}`,
  ];
  await engine.docker(
    'import',
    ...settings.flatMap((one) => ['-c', `ENV ${one}`]),
    '-c',
    'CMD ["node"]',
    archive,
    BASE,
  );
  rmSync(root, { recursive: true });
  rmSync(archive);
}

export interface BuiltImages {
  /** Builds the image of one Dockerfile once, and answers its name. */
  build(image: 'agent' | 'server'): Promise<string>;
}

/** What the ignore file lets through: only BuildKit reads it, and the builder of this engine would send all the rest. */
function copyContext(image: string, to: string): void {
  const lines = readFileSync(join(ROOT, `deploy/docker/${image}.Dockerfile.dockerignore`), 'utf8').split('\n');
  const through = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  const isIgnored = (path: string): boolean => path.endsWith('.test.ts') || path.endsWith('/node_modules');
  for (const path of through)
    cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: (from) => !isIgnored(from) });
}

/** Makes the base; then builds by the very command that stands in the Dockerfiles. */
export async function openImages(
  world: World,
  engine: DockerEngine,
  { busybox }: DockerParts,
): Promise<Part<BuiltImages>> {
  const npm = await npmFolder();
  if (npm === undefined) return { missing: 'npm, to put it into the base image' };
  const asked = await run('npm', ['ping'], { env });
  if (asked.code !== 0) return { missing: `a registry of npm that answers (${complaintOf(asked)})` };
  await importBase(world, engine, busybox, npm);
  const built = new Map<string, Promise<string>>();

  async function build(image: string): Promise<string> {
    const name = `muster/${image}`;
    const place = world.path(`context-${image}`);
    copyContext(image, place);
    // On the machine's network: the engine forwards nothing for its own.
    const words = ['--network=host', '-f', join(ROOT, `deploy/docker/${image}.Dockerfile`), '-t', name, place];
    await runWell('docker', ['build', ...words], { env: { ...env, ...engine.env, DOCKER_BUILDKIT: '0' } });
    rmSync(place, { recursive: true });
    return name;
  }

  return {
    build(image) {
      const building = built.get(image) ?? build(image);
      built.set(image, building);
      return building;
    },
  };
}
