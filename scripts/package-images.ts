// The images of server and agent as archives that `docker load` takes. They hold the trees of image-root.ts, on the base and with
// the settings that deploy/docker has for them.
import { execFile, spawn } from 'node:child_process';
import { cpSync, createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { readVersion } from '../src/program/version.ts';
import { makeAgentRoot, makeServerRoot } from './image-root.ts';

const ROOT = dirname(import.meta.dirname);
const execute = promisify(execFile);

const IMAGES = { server: makeServerRoot, agent: makeAgentRoot };
type ImageName = keyof typeof IMAGES;

/** What `COPY --from=build /out` of a Dockerfile takes, once the tree is made. */
const TREE = 'tree';

export interface LastStage {
  readonly text: string;
  /** The files of the repository that it copies. */
  readonly files: readonly string[];
}

/** The last stage of a Dockerfile, which takes a tree that is already made in place of that of its first stage. */
export function lastStageOf(dockerfile: string): LastStage {
  const stage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM ') + 1);
  const taken = 'COPY --from=build /out ';
  if (!stage.includes(taken)) throw new Error(`The last stage of the Dockerfile does not have "${taken}".`);
  const files = [...stage.matchAll(/^COPY (?!--)(\S+) /gm)].map(([, file = '']) => file);
  return { text: stage.replace(taken, `COPY ${TREE} `), files };
}

type Env = Readonly<Record<string, string | undefined>>;

/** The architecture of the engine, by the name that Node has for it; or why none answers. */
async function askEngine(env: Env): Promise<{ readonly arch: string } | { readonly why: string }> {
  try {
    const { stdout } = await execute('docker', ['version', '--format', '{{.Server.Arch}}'], { env });
    const arch = stdout.trim();
    return { arch: arch === 'amd64' ? 'x64' : arch };
  } catch (thrown) {
    const { code, stderr } = thrown as { readonly code: unknown; readonly stderr: string };
    return { why: code === 'ENOENT' ? 'There is no command docker.' : (stderr.trim().split('\n').at(-1) ?? '') };
  }
}

/** Builds the image of that name, for the engine that answers to the docker command. */
export async function buildImage(image: ImageName, tags: readonly string[], scratch: string, env: Env): Promise<void> {
  const context = join(scratch, `image-${image}`);
  mkdirSync(context);
  await IMAGES[image](join(context, TREE));
  const { text, files } = lastStageOf(readFileSync(join(ROOT, `deploy/docker/${image}.Dockerfile`), 'utf8'));
  writeFileSync(join(context, 'Dockerfile'), text);
  for (const file of files) cpSync(join(ROOT, file), join(context, file), { recursive: true });
  await execute('docker', ['build', ...tags.flatMap((tag) => ['-t', tag]), context], { env, maxBuffer: 1 << 24 });
  rmSync(context, { recursive: true });
}

async function saveImage(tags: readonly string[], file: string, env: Env): Promise<void> {
  const child = spawn('docker', ['save', ...tags], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await pipeline(child.stdout, createGzip(), createWriteStream(file));
  const code = await ended;
  if (code !== 0) throw new Error(`docker save ${tags.join(' ')} ended with ${code}`);
}

export interface PackedImages {
  /** Their names in the folder. */
  readonly files: readonly string[];
  /** Why there are none. */
  readonly unmade?: string;
}

/** Writes both archives, for the architecture of the engine that answers to the docker command. */
export async function makeImages(folder: string, scratch: string, env: Env): Promise<PackedImages> {
  const engine = await askEngine(env);
  if ('why' in engine)
    return { files: [], unmade: `The images were not made, because no Docker engine answers: ${engine.why}` };
  const files: string[] = [];
  for (const image of Object.keys(IMAGES) as ImageName[]) {
    const tags = [`muster/${image}:${readVersion()}`, `muster/${image}:latest`];
    const file = `muster-${image}-image-${engine.arch}.tar.gz`;
    await buildImage(image, tags, scratch, env);
    await saveImage(tags, join(folder, file), env);
    files.push(file);
  }
  return { files };
}
