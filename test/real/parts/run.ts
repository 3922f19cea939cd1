import { spawn } from 'node:child_process';
import { Fault } from '#core/fault.ts';

export interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly withinMs?: number;
}

export interface Ran {
  /** `null` where it was killed or never started. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const PATIENCE_MS = 300_000;
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** Runs a program to its end; one that is not there ends with its error as text. */
export function run(program: string, words: readonly string[], options: RunOptions): Promise<Ran> {
  const { env, cwd, withinMs = PATIENCE_MS } = options;
  return new Promise((resolve) => {
    const child = spawn(program, words, { env, ...(cwd && { cwd }), stdio: ['ignore', 'pipe', 'pipe'] });
    const timeout = AbortSignal.timeout(withinMs);
    timeout.addEventListener('abort', () => child.kill('SIGKILL'));
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.once('error', (error) => resolve({ code: null, out, err: error.message }));
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

/** What it printed, or a fault with what it complained about. */
export async function runWell(program: string, words: readonly string[], options: RunOptions): Promise<string> {
  const { code, out, err } = await run(program, words, options);
  if (code === 0) return out;
  const said = `${out}\n${err}`.replace(COLOURS, '').trim();
  throw new Fault('unavailable', `${program} ${words.join(' ')} ended with ${code}: ${said}`);
}

/** What a program complained about, in one line: the first that names an error, or the last of all. */
export function complaintOf({ out, err }: Ran): string {
  const lines = `${out}\n${err}`
    .replace(COLOURS, '')
    .split('\n')
    .map((line) => line.trim());
  const said = lines.filter((line) => line !== '');
  return said.find((line) => /error/i.test(line)) ?? said.at(-1) ?? '';
}
