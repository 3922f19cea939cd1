// Programs of this machine in an environment of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ProgramCall, ProgramEnd, Programs } from '#core/programs.ts';
import { sendSignal } from './processes.ts';
import { DEFAULT_PATH, findProgram } from './programs.ts';

export interface ProgramsDeps {
  readonly clock: Clock;
  /** A variable of this program's environment. */
  variable(name: string): string | undefined;
}

// What every program finds: where programs, its user and room for files are, and in which language it speaks.
const USUAL = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

const GRACE_MS = 10 * SECOND_MS;
/** What it left in the background may hold its output open for ever. */
const LINGER_MS = SECOND_MS;
const LONGEST_LINE = 64 * 1024;

/** Hands on each line of a stream; the returned function hands on the last one, where it has no end. */
function readLines(stream: Readable, line: (text: string) => void): () => void {
  let held = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (held + piece).split(/\r?\n/);
    held = lines.pop() ?? '';
    for (const text of lines) line(text);
    if (held.length <= LONGEST_LINE) return;
    line(held);
    held = '';
  });
  return () => {
    if (held !== '') line(held);
    held = '';
  };
}

/** Tells it to stop when the signal aborts; after its grace it and all that it started are killed. */
function stopWith(signal: AbortSignal, child: ChildProcess, graceMs: number, clock: Clock): () => void {
  let cancelAlarm = (): void => {};
  const stop = (): void => {
    const signalGroup = (name: NodeJS.Signals): void => {
      if (child.pid !== undefined) sendSignal(-child.pid, name);
    };
    // As a terminal does it. Packer is two processes, of which the first one leaves it to the terminal to tell the second.
    signalGroup('SIGINT');
    cancelAlarm = clock.alarm(graceMs, () => signalGroup('SIGKILL'));
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return () => {
    cancelAlarm();
    signal.removeEventListener('abort', stop);
  };
}

export function openPrograms({ clock, variable }: ProgramsDeps): Programs {
  const path = variable('PATH') || DEFAULT_PATH;
  const usual = Object.fromEntries(
    USUAL.map((name) => [name, variable(name)] as const).filter((entry): entry is [string, string] => !!entry[1]),
  );
  const find = (program: string): string | undefined => findProgram(program, path);

  async function run(call: ProgramCall, signal: AbortSignal): Promise<ProgramEnd> {
    const { program, args, folder, env, input, line = () => {}, graceMs = GRACE_MS } = call;
    const file = find(program);
    if (file === undefined)
      throw new Fault('missing', `There is no program ${program} on this machine.`, {
        remedy: `Install ${program}, or put its folder into PATH.`,
      });
    if (signal.aborted) throw new Fault('unavailable', `${program} was not started: the command was given up.`);
    // A group of its own: Ctrl-C in a terminal reaches it through us alone, and once.
    const child = spawn(file, args, { cwd: folder, env: { ...usual, PATH: path, ...env }, detached: true });
    const ends = [
      readLines(child.stdout, (text) => line(text, 'stdout')),
      readLines(child.stderr, (text) => line(text, 'stderr')),
    ];
    // A program that ends before it has read all closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    const release = stopWith(signal, child, graceMs, clock);
    const closed = once(child, 'close').catch(() => {});
    try {
      const [code, by] = (await once(child, 'exit')) as [number | null, string | null];
      await Promise.race([closed, clock.sleep(LINGER_MS)]);
      for (const end of ends) end();
      return { code: code ?? undefined, ...(by !== null && { signal: by }) };
    } catch (thrown) {
      throw new Fault('unavailable', `${file} cannot be run: ${Fault.from(thrown).message}`, { cause: thrown });
    } finally {
      release();
      child.unref();
    }
  }

  return { find, run };
}
