// Images for a node without a registry and without Docker: archives as `docker save` writes them, made by hand.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeServerRoot } from '../../../scripts/image-root.ts';
import { makeAgentProgram } from '../../../src/program/agent-program.ts';
import { readVersion } from '../../../src/program/version.ts';
import { runWell } from './run.ts';

export const AGENT_IMAGE = 'example.invalid/agent:test';
export const SERVER_IMAGE = 'example.invalid/server:test';
export const PAUSE_IMAGE = 'example.invalid/pause:1';

const env = process.env as Record<string, string>;

interface Image {
  readonly name: string;
  /** What its root folder holds. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  /** As in its Dockerfile: what else the image says of its processes. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Packs a root folder as an image, at that path. */
async function pack({ name, root, entrypoint, config: more }: Image, path: string): Promise<void> {
  const folder = `${path}.parts`;
  mkdirSync(folder, { recursive: true });
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
  await runWell('tar', ['-C', root, ...owner, '-cf', join(folder, 'layer.tar'), '.'], { env });
  const layer = createHash('sha256')
    .update(readFileSync(join(folder, 'layer.tar')))
    .digest('hex');
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin'], Entrypoint: entrypoint, ...more },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  });
  const file = `${createHash('sha256').update(config).digest('hex')}.json`;
  writeFileSync(join(folder, file), config);
  const manifest = [{ Config: file, RepoTags: [name], Layers: ['layer.tar'] }];
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  await runWell('tar', ['-C', folder, '-cf', path, 'layer.tar', file, 'manifest.json'], { env });
  rmSync(folder, { recursive: true });
}

/** Puts a program and the libraries that it is linked with where it looks for them. */
async function addProgram(root: string, from: string, to: string): Promise<void> {
  const place = join(root, to);
  mkdirSync(dirname(place), { recursive: true });
  copyFileSync(from, place);
  chmodSync(place, 0o755);
  const linked = await runWell('ldd', [from], { env });
  for (const [library] of linked.matchAll(/(?<=\s)\/\S+(?= \(0x)/g)) {
    const target = join(root, library);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(library, target);
  }
}

/** Node and a shell, in place of the base image of the Dockerfiles. */
export async function addBase(root: string, busybox: string): Promise<void> {
  await addProgram(root, process.execPath, '/usr/bin/node');
  for (const place of ['bin', 'tmp', 'run', 'etc']) mkdirSync(join(root, place), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  const applets = (await runWell(busybox, ['--list'], { env }))
    .split('\n')
    .filter((name) => name && name !== 'busybox');
  for (const applet of applets) symlinkSync('busybox', join(root, 'bin', applet));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\n');
}

/** The server's image: what its Dockerfile copies, and its settings. */
export async function packServerImage(folder: string, busybox: string): Promise<void> {
  const root = join(folder, 'server-root');
  await addBase(root, busybox);
  await makeServerRoot(join(root, 'opt/muster'));
  mkdirSync(join(root, 'var/lib/muster'), { recursive: true });
  const config = {
    Env: ['PATH=/opt/muster/bin:/usr/bin:/bin', 'NODE_ENV=production', 'MUSTER_DATA_DIR=/var/lib/muster'],
    User: '1000:1000',
    WorkingDir: '/var/lib/muster',
    Cmd: ['server'],
  };
  const image = { name: SERVER_IMAGE, root, entrypoint: ['/opt/muster/bin/muster'], config };
  await pack(image, join(folder, 'server.tar'));
  rmSync(root, { recursive: true });
}

/** The agent's image, its entry point the agent, and the one that holds a pod's network; into that folder. */
export async function packImages(folder: string, busybox: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const agentRoot = join(folder, 'agent-root');
  const { path: program } = await makeAgentProgram(join(folder, 'program'), readVersion());
  await addBase(agentRoot, busybox);
  mkdirSync(join(agentRoot, 'agent'));
  copyFileSync(program, join(agentRoot, 'agent/agent.mjs'));
  const entrypoint = ['/usr/bin/node', '/agent/agent.mjs', 'agent'];
  await pack({ name: AGENT_IMAGE, root: agentRoot, entrypoint }, join(folder, 'agent.tar'));

  const pauseRoot = join(folder, 'pause-root');
  mkdirSync(pauseRoot, { recursive: true });
  const source = join(import.meta.dirname, 'node/pause.c');
  await runWell('gcc', ['-static', '-Os', '-s', '-o', join(pauseRoot, 'pause'), source], { env });
  await pack({ name: PAUSE_IMAGE, root: pauseRoot, entrypoint: ['/pause'] }, join(folder, 'pause.tar'));
  for (const root of [agentRoot, pauseRoot]) rmSync(root, { recursive: true });
}
