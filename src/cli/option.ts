import { Option } from 'commander';
import { parseDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { FORMATS } from './show.ts';

/** How a list or a thing is shown. */
export const outputOption = (formats: readonly string[] = FORMATS): Option =>
  new Option('-o, --output <format>', 'how to show it').choices(formats).default('table');

/** For an option that is a whole number. */
export function whole(option: string, least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
    throw new Fault('invalid', `${option} ${text}: that is not a whole number.`, { remedy: `Give one ${range}.` });
  };
}

/** For an option that is a duration; the text goes to the server as it was written. */
export function span(option: string) {
  return (text: string): string => {
    try {
      parseDuration(text);
      return text;
    } catch (thrown) {
      const { message, remedy } = Fault.from(thrown);
      throw new Fault('invalid', `${option}: ${message}`, { remedy });
    }
  };
}

/** For an option `NAME=VALUE` that may be repeated. */
export function pair(option: string) {
  return (text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const at = text.indexOf('=');
    if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
    throw new Fault('invalid', `${option} ${text}: that is not NAME=VALUE.`, {
      remedy: `Write it like ${option} COLOUR=blue.`,
    });
  };
}
