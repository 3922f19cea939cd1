// Writes what users install: npm run package [FOLDER]. A tarball for npm, archives for Linux that have their own Node, images
// where a Docker engine answers, the checksums of all, and a script that installs the archive for this machine.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { addClient } from './client-package.ts';
import { addComputers } from './computers-package.ts';
import { makeServerRoot } from './image-root.ts';
import { makeImages } from './package-images.ts';

const ROOT = dirname(import.meta.dirname);
export const ARCHITECTURES = ['x64', 'arm64'];
const execute = promisify(execFile);

async function run(program: string, words: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await execute(program, words, { cwd, maxBuffer: 1 << 24 });
  return stdout;
}

/** The folder that all packages hold, as `FOLDER/muster`. */
export async function makePackageRoot(folder: string): Promise<string> {
  const root = join(folder, 'muster');
  await makeServerRoot(root);
  await addClient(root);
  await addComputers(root);
  for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md']) copyFileSync(join(ROOT, name), join(root, name));
  return root;
}

const pack = async (what: string, into: string): Promise<{ filename: string; integrity: string }> => {
  const words = ['pack', what, '--pack-destination', into, '--json', '--ignore-scripts', '--loglevel=error'];
  const [made] = Object.values(JSON.parse(await run('npm', words, into))) as { filename: string; integrity: string }[];
  if (made === undefined) throw new Error(`npm pack ${what} made nothing`);
  return made;
};

/** The package for npm; answers its file name. */
export async function makeTarball(root: string, folder: string): Promise<string> {
  return (await pack(root, folder)).filename;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** Fetches the Node of an architecture into `root/bin`: the version that the lockfile names, with its checksum. */
export async function fetchNode(arch: string, root: string, scratch: string): Promise<void> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  const name = `node-linux-${arch}`;
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json does not have ${name}`);
  const { filename, integrity } = await pack(`${name}@${locked.version}`, scratch);
  if (integrity !== locked.integrity) throw new Error(`${filename} does not have the checksum of package-lock.json`);
  await run('tar', ['-xzf', join(scratch, filename), '-C', root, '--strip-components=1', 'package/bin/node'], scratch);
}

/** Packs a folder by its own name, as root's. */
export async function packFolder(folder: string, file: string): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', ['-C', dirname(folder), ...owner, '-czf', file, basename(folder)], ROOT);
}

/** The archive of one architecture, which has its own Node; answers its file name. */
export async function makeArchive(root: string, arch: string, folder: string): Promise<string> {
  const file = `muster-linux-${arch}.tar.gz`;
  const scratch = mkdtempSync(join(tmpdir(), 'muster-package-'));
  try {
    await fetchNode(arch, root, scratch);
    await packFolder(root, join(folder, file));
  } finally {
    rmSync(join(root, 'bin/node'), { force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
  return file;
}

async function checksumLine(folder: string, file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(folder, file)), hash);
  return `${hash.digest('hex')}  ${file}\n`;
}

/** The list that `sha256sum -c` reads, and the script that installs an archive after it has checked it. */
export async function writeInstaller(folder: string, files: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const file of files) lines.push(await checksumLine(folder, file));
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  copyFileSync(join(ROOT, 'scripts/install.sh'), join(folder, 'install.sh'));
}

async function makeAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'muster-package-'));
  try {
    const root = await makePackageRoot(scratch);
    const files = [await makeTarball(root, folder)];
    for (const arch of ARCHITECTURES) files.push(await makeArchive(root, arch, folder));
    const images = await makeImages(folder, scratch, process.env);
    files.push(...images.files);
    await writeInstaller(folder, files);
    for (const file of [...files, 'SHA256SUMS', 'install.sh']) console.log(join(folder, file));
    if (images.unmade !== undefined) console.error(images.unmade);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Where the packages go: the one folder that is named, else `dist`. */
export function folderOf(words: readonly string[]): string {
  const [folder = join(ROOT, 'dist'), ...more] = words;
  if (more.length === 0 && !folder.startsWith('-')) return resolve(folder);
  throw new Error(`npm run package takes one folder and no options, not ${words.join(' ')}.`);
}

async function main(): Promise<void> {
  try {
    await makeAll(folderOf(process.argv.slice(2)));
  } catch (thrown) {
    console.error(`npm run package: ${thrown instanceof Error ? thrown.message : thrown}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
