import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import { quoted } from '#core/shell-text.ts';
import { sendSignal } from '#host/processes.ts';

export interface ScriptRun {
  /** For messages: `start`. */
  readonly name: string;
  readonly script: string;
  /** `$1`, `$2` and so on. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Never repeated in a message. */
  readonly secret?: string | undefined;
  began?(pid: number): void;
}

/** A script that ran to its end; a fault where it did not return 0. */
export interface ScriptResult {
  readonly lines: readonly string[];
  readonly fault?: Fault | undefined;
  /** The last of what it printed on stderr, where it failed: for the log alone, since it may show anything of the server. */
  readonly errors?: readonly string[] | undefined;
}

// A listing of tens of thousands of machines is far smaller.
const MOST_OUTPUT_BYTES = 16 * 2 ** 20;
const MOST_ERROR_BYTES = 16 * 2 ** 10;
const LINES_OF_ERROR = 5;
const LINGER_MS = 200;

// In front of the script's first line, so that bash names the lines that the user wrote.
function prelude(env: ScriptRun['env']): string {
  const words = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  return words.length > 0 ? `export ${words.join(' ')}; ` : '';
}

const nonEmpty = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function isFaultKind(word: string): word is FaultKind {
  return Object.hasOwn(FAULTS, word);
}

/** Why it failed. Viewers see this, so of its own words only a last line such as `exhausted: no GPUs left` is in it. */
function failure(run: ScriptRun, how: string, errors: readonly string[]): Fault {
  const last = errors.at(-1) ?? '';
  const [word = ''] = last.split(':', 1);
  const named = last.includes(':') && isFaultKind(word) ? word : undefined;
  return new Fault(named ?? 'unavailable', `The script ${run.name} ${how}${named ? `: ${last}` : '.'}`, {
    // A script that prints the fault kind knows the cause, and the kind has its remedy.
    remedy: named ? undefined : "See what it printed in the server's log, or run it by hand as the server's user.",
  });
}

function lastLines({ secret }: ScriptRun, errors: string): readonly string[] {
  return nonEmpty(secret ? errors.replaceAll(secret, '***') : errors).slice(-LINES_OF_ERROR);
}

interface Printed {
  output: string;
  errors: string;
}

function collect(child: ChildProcessWithoutNullStreams, printed: Printed, tooMuch: () => void): void {
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.output += text;
    if (printed.output.length > MOST_OUTPUT_BYTES) tooMuch();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.errors = (printed.errors + text).slice(-MOST_ERROR_BYTES);
  });
}

/** How it ended, once its output has too; but what it left in the background may hold that open for ever. */
async function endOf(child: ChildProcessWithoutNullStreams, clock: Clock): Promise<string | undefined> {
  const closed = once(child, 'close');
  closed.catch(() => {});
  const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
  await Promise.race([closed, clock.sleep(LINGER_MS)]);
  if (code === 0) return undefined;
  return killedBy ? `was ended by ${killedBy}` : `returned ${code}`;
}

/** Rejects on timeout or abort, until `cancel`. */
function givingUp(run: ScriptRun, clock: Clock, signal: AbortSignal) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const giveUp = (why: string): void =>
    reject(new Fault('unavailable', `The script ${run.name} ${why}; it was killed.`));
  const onAbort = (): void => giveUp('was cancelled');
  const cancelAlarm = clock.alarm(run.timeoutMs, () => giveUp(`took longer than ${formatDuration(run.timeoutMs)}`));
  signal.addEventListener('abort', onAbort, { once: true });
  const cancel = (): void => {
    cancelAlarm();
    signal.removeEventListener('abort', onAbort);
  };
  return { promise, giveUp, cancel };
}

/**
 * Feeds a script to bash on its stdin. It throws if the script was cancelled, so that its outcome is unknown:
 * after its time, or when the signal aborts. Then everything that it started is killed.
 */
export async function runScript(run: ScriptRun, clock: Clock, signal: AbortSignal): Promise<ScriptResult> {
  if (signal.aborted) throw new Fault('unavailable', `The script ${run.name} was cancelled before it began.`);
  // Without `env` it gets the server's own: the operator's scripts need his credentials and his PATH.
  const child = spawn('bash', ['-s', '--', ...run.args], { cwd: tmpdir(), detached: true });
  if (child.pid !== undefined) run.began?.(child.pid);
  const givenUp = givingUp(run, clock, signal);
  const printed: Printed = { output: '', errors: '' };
  collect(child, printed, () => givenUp.giveUp('printed too much output'));
  // A script that ends before it was read whole closes the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(prelude(run.env) + run.script);
  const ended = endOf(child, clock).catch((thrown) => `cannot be run: ${Fault.from(thrown).message}`);
  try {
    const how = await Promise.race([ended, givenUp.promise]);
    const lines = nonEmpty(printed.output);
    if (how === undefined) return { lines };
    const errors = lastLines(run, printed.errors);
    return { lines, errors, fault: failure(run, how, errors) };
  } catch (thrown) {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
    throw thrown;
  } finally {
    givenUp.cancel();
    child.unref();
  }
}
