import { Option } from 'commander';
import { parseDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { FORMATS } from './show.ts';

/** Output format of a list or an item. */
export const outputOption = (formats: readonly string[] = FORMATS): Option =>
  new Option('-o, --output <format>', 'output format').choices(formats).default('table');

/** For an option that is a whole number. */
export function whole(option: string, least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    const why = Number.isInteger(value) ? 'out of range' : 'not a whole number';
    throw new Fault('invalid', `${option} ${text} is ${why}.`, { remedy: `Give a whole number ${range}.` });
  };
}

/** For an option that is a duration; the text goes to the server as it was written. */
export function span(option: string, { mayBeZero = false } = {}) {
  return (text: string): string => {
    const ms = spanOf(option, text);
    if (ms > 0 || (ms === 0 && mayBeZero)) return text;
    throw new Fault('invalid', `${option} ${text} is out of range.`, {
      remedy: mayBeZero ? 'Give a duration that is not negative.' : 'Give a duration longer than 0s.',
    });
  };
}

function spanOf(option: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (thrown) {
    const { message, remedy } = Fault.from(thrown);
    throw new Fault('invalid', `${option}: ${message}`, { remedy });
  }
}

/** For an option or an argument that names something. */
export function named(what: string) {
  return (text: string): string => {
    if (text.trim() !== '') return text;
    throw new Fault('invalid', `${what}: the name is empty.`, {
      remedy: 'Give a name; check for an unset variable.',
    });
  };
}

/** For an option `NAME=VALUE` that may be repeated. */
export function pair(option: string, example = 'COLOUR=blue') {
  return (text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const at = text.indexOf('=');
    if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
    throw new Fault('invalid', `${option} ${text} is not NAME=VALUE.`, {
      remedy: `Write it like ${option} ${example}.`,
    });
  };
}
