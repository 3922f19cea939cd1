import { Fault } from '#core/fault.ts';

// PostgreSQL takes no NUL in a text, and a C string ends there.
const NUL = /\0/g;

/** Foreign text for display or storage: cut to a length, without what breaks stores. */
export function tame(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replace(NUL, '\ufffd');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a name.
const NOT_IN_A_NAME = /[\u0000-\u001f\u007f]/;

/** A foreign name that identifies something: an invalid one is refused, never changed. */
export function checkedName(text: string, longest: number, at: string): string {
  if (text === '') throw new Fault('invalid', `${at} is missing.`, { at });
  if (text.length > longest || NOT_IN_A_NAME.test(text) || !text.isWellFormed()) {
    const remedy = `Send at most ${longest} characters, none of them a control character.`;
    throw new Fault('invalid', `${at} is not a valid name.`, { at, remedy });
  }
  return text;
}
