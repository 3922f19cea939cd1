import { spawn } from 'node:child_process';
import { PROGRAM } from './start-place.ts';
import type { World } from './world.ts';

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningCli {
  /** What it has printed so far. */
  out(): string;
  err(): string;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<CliResult>;
}

/** Starts a program as a user of that world would. */
export function startProgram(
  world: World,
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCli {
  const child = spawn(program, words, {
    cwd: world.folder,
    env: { ...world.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return {
    out: () => out,
    err: () => err,
    signal: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err }))),
  };
}

export function runProgram(world: World, program: string, words: readonly string[]): Promise<CliResult> {
  return startProgram(world, program, words).ended;
}

/** Starts `muster WORDS…` as a user of that world would. */
export function startCli(world: World, words: readonly string[], env?: Readonly<Record<string, string>>): RunningCli {
  return startProgram(world, process.execPath, [PROGRAM, ...words], env);
}

export function runCli(
  world: World,
  words: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<CliResult> {
  return startCli(world, words, env).ended;
}
