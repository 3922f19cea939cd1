import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import type { SessionLimits } from './deps.ts';
import type { SessionRequest } from './sessions.ts';

// Linux accepts no longer argument or variable (MAX_ARG_STRLEN, its closing zero included).
const LONGEST_STRING_BYTES = 128 * 2 ** 10 - 1;
const MOST_RETRIES = 1_000;
const LARGEST_TERMINAL = 65_535;
// A POSIX shell silently drops other names.
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
// As in passwd(5), and no option of a program: it is looked up by one.
const USER = /^[^-:\s\0][^:\s\0]{0,255}$/;

function invalid(at: string, message: string, remedy: string): Fault {
  return new Fault('invalid', message, { at, remedy });
}

/** Throws a `Fault` that names the first field that no agent could run. Places are worded only for that. */
export function checkRequests(requests: readonly SessionRequest[], limits: SessionLimits): void {
  if (requests.length === 0) throw invalid('', 'The request has no session.', 'Ask for at least one.');
  for (let index = 0; index < requests.length; index++) {
    checkSpec((requests[index] as SessionRequest).spec, limits, index);
  }
}

function checkSpec(spec: SessionSpec, limits: SessionLimits, index: number): void {
  const at = (field: string): string => `[${index}].spec.${field}`;
  if (!spec.command[0]) throw invalid(at('command'), 'The command is missing.', 'Name a program and its arguments.');
  let bytes = checkText(spec.cwd ?? '', () => at('cwd'));
  for (let word = 0; word < spec.command.length; word++)
    bytes += checkText(spec.command[word] as string, () => at(`command[${word}]`));
  bytes += checkVariables(spec.env, at);
  if (spec.runAs && 'user' in spec.runAs && !USER.test(spec.runAs.user))
    throw invalid(at('runAs.user'), 'The name of the user is invalid.', 'Use the name of a user of the worker.');
  for (const name in spec.labels) bytes += checkText(`${name}=${spec.labels[name]}`, () => at(`labels.${name}`));
  if (bytes > limits.specBytes) {
    const remedy = `Keep them within ${limits.specBytes} bytes; pass large data as input or in a file.`;
    throw invalid(`[${index}].spec`, `Command, environment and labels have ${bytes} bytes.`, remedy);
  }
  checkNumbers(spec, at);
}

function checkVariables(env: SessionSpec['env'], at: (field: string) => string): number {
  let bytes = 0;
  for (const name in env) {
    if (!VARIABLE.test(name))
      throw invalid(
        at(`env.${name}`),
        'The name of the variable is invalid.',
        'Use letters, digits and underscores; begin with no digit.',
      );
    bytes += checkText(`${name}=${env[name]}`, () => at(`env.${name}`));
  }
  return bytes;
}

function checkText(text: string, at: () => string): number {
  if (text.includes('\0')) throw invalid(at(), 'The text contains a zero byte.', 'Remove the zero byte.');
  const bytes = Buffer.byteLength(text);
  if (bytes > LONGEST_STRING_BYTES)
    throw invalid(
      at(),
      `The text has ${bytes} bytes.`,
      `Keep one argument or variable within ${LONGEST_STRING_BYTES} bytes.`,
    );
  return bytes;
}

function checkNumbers(spec: SessionSpec, at: (field: string) => string): void {
  const { priority, retries, graceMs, timeoutMs, terminal } = spec;
  checkWhole(priority, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, () => at('priority'));
  checkWhole(retries, 0, MOST_RETRIES, () => at('retries'));
  if (!(graceMs >= 0 && Number.isFinite(graceMs)))
    throw invalid(at('graceMs'), 'The grace period is not a duration.', 'Give 0 or more.');
  if (timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs)))
    throw invalid(at('timeoutMs'), 'The time limit is not a duration.', 'Give more than 0, or leave it out.');
  if (!terminal) return;
  checkWhole(terminal.columns, 1, LARGEST_TERMINAL, () => at('terminal.columns'));
  checkWhole(terminal.rows, 1, LARGEST_TERMINAL, () => at('terminal.rows'));
}

function checkWhole(value: number, least: number, most: number, at: () => string): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw invalid(at(), `The number ${value} is out of range.`, `Give a whole number from ${least} to ${most}.`);
}
