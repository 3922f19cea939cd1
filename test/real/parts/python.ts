// Python programs, in a folder of their own below the project's cache: nothing of the machine's Python is changed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const MITHRIL = join(import.meta.dirname, 'requirements-mithril.txt');
const JUPYTER = join(import.meta.dirname, 'requirements-jupyter.txt');
const INSTALLER = 'uv==0.13.7';

export interface Programs {
  /** The path of an installed program. */
  program(name: string): string;
}

/** pip and uv find their mirrors and certificates in the environment. */
const env = (): Record<string, string> => ({ ...process.env }) as Record<string, string>;

/** Runs the steps in turn; answers what went wrong. */
async function failureOf(steps: readonly (readonly [string, ...string[]])[]): Promise<string | undefined> {
  for (const [program, ...words] of steps) {
    const ran = await run(program, words, { env: env() });
    if (ran.code !== 0) return `${program} ${words[0]}: ${complaintOf(ran)}`;
  }
  return undefined;
}

interface Wanted {
  readonly requirements: string;
  /** What is missing where they cannot be had. */
  readonly names: string;
  readonly flags?: readonly string[];
}

/** Programs as pinned, in a folder of their own: fetched once, then found. */
async function fetched({ requirements, names, flags = [] }: Wanted): Promise<Part<Programs>> {
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(ROOT, '.cache', 'real', `python-${wanted}`);
  const program = (name: string): string => join(folder, 'bin', name);
  const done = join(folder, 'installed');
  if (existsSync(done)) return { program };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const noPython = await failureOf([['python3', '-m', 'venv', folder]]);
  if (noPython) return { missing: `Python 3.10 or newer with venv (${noPython})` };
  const notFetched = await failureOf([
    [program('pip'), 'install', '--quiet', INSTALLER],
    [program('uv'), 'pip', 'install', '--quiet', ...flags, '--python', program('python'), '-r', requirements],
  ]);
  if (notFetched) return { missing: `${names} from PyPI (${notFetched})` };
  writeFileSync(done, '');
  return { program };
}

/** moto, the AWS CLI and the clients of Azure, DigitalOcean, Google and Nebius. */
export const pythonPrograms = (): Promise<Part<Programs>> =>
  fetched({
    requirements: REQUIREMENTS,
    names:
      'moto, awscli, boto3, azure-mgmt-compute, azure-mgmt-containerinstance, pydo, google-cloud-compute, google-cloud-run, google-cloud-storage and nebius',
  });

/** Mithril's client and its command `ml`. */
export const mithrilClient = (): Promise<Part<Programs>> =>
  fetched({ requirements: MITHRIL, names: 'mithril-client', flags: ['--no-deps'] });

/** JupyterLab with its Python kernel. */
export const jupyter = (): Promise<Part<Programs>> => fetched({ requirements: JUPYTER, names: 'jupyterlab' });
