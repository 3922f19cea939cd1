import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import type { Limits } from './deps.ts';
import type { SessionRequest } from './sessions.ts';

// The kernel's own bound for one argument or variable (MAX_ARG_STRLEN), its closing zero included.
const LONGEST_STRING_BYTES = 128 * 2 ** 10 - 1;
const LONGEST_KEY = 255;
const MOST_RETRIES = 1_000;
const LARGEST_TERMINAL = 65_535;

function invalid(at: string, message: string, remedy: string): Fault {
  return new Fault('invalid', message, { at, remedy });
}

/** Throws a `Fault` that names the place of the first thing that no agent could run. */
export function checkRequests(requests: readonly SessionRequest[], limits: Limits): void {
  if (requests.length === 0) throw invalid('', 'There is no session in this request.', 'Ask for one at least.');
  for (const [index, { spec }] of requests.entries()) checkSpec(spec, limits, `[${index}].spec`);
}

export function checkKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= LONGEST_KEY) return;
  throw invalid('key', 'This is no idempotency key.', `Use 1 to ${LONGEST_KEY} printable characters without spaces.`);
}

function checkSpec(spec: SessionSpec, limits: Limits, at: string): void {
  if (!spec.command[0]) throw invalid(`${at}.command`, 'There is no command.', 'Name a program and its arguments.');
  let bytes = checkText(spec.cwd ?? '', `${at}.cwd`);
  for (const [index, word] of spec.command.entries()) bytes += checkText(word, `${at}.command[${index}]`);
  for (const [name, value] of Object.entries(spec.env)) {
    const place = `${at}.env.${name}`;
    if (name === '' || name.includes('=')) throw invalid(place, 'This is no name of a variable.', 'Leave out the "=".');
    bytes += checkText(`${name}=${value}`, place);
  }
  for (const [name, value] of Object.entries(spec.labels))
    bytes += checkText(`${name}=${value}`, `${at}.labels.${name}`);
  if (bytes > limits.specBytes) {
    const remedy = `Keep them within ${limits.specBytes} bytes; pass large data as input or in a file.`;
    throw invalid(at, `Command, environment and labels have ${bytes} bytes.`, remedy);
  }
  checkNumbers(spec, at);
}

function checkText(text: string, at: string): number {
  if (text.includes('\0')) throw invalid(at, 'It contains a zero byte.', 'Remove it: no program could be given it.');
  const bytes = Buffer.byteLength(text);
  if (bytes > LONGEST_STRING_BYTES)
    throw invalid(at, `It has ${bytes} bytes.`, `One argument or variable has at most ${LONGEST_STRING_BYTES}.`);
  return bytes;
}

function checkNumbers(spec: SessionSpec, at: string): void {
  const { priority, retries, graceMs, timeoutMs, terminal } = spec;
  checkWhole(priority, `${at}.priority`, [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  checkWhole(retries, `${at}.retries`, [0, MOST_RETRIES]);
  if (!(graceMs >= 0 && Number.isFinite(graceMs)))
    throw invalid(`${at}.graceMs`, 'The grace is no span of time.', 'Give 0 or more.');
  if (timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs)))
    throw invalid(`${at}.timeoutMs`, 'The time limit is no span of time.', 'Give more than 0, or leave it out.');
  if (!terminal) return;
  checkWhole(terminal.columns, `${at}.terminal.columns`, [1, LARGEST_TERMINAL]);
  checkWhole(terminal.rows, `${at}.terminal.rows`, [1, LARGEST_TERMINAL]);
}

function checkWhole(value: number, at: string, [least, most]: readonly [number, number]): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw invalid(at, `${value} is not allowed here.`, `Give a whole number from ${least} to ${most}.`);
}
