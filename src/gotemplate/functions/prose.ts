// What Sprig takes from the Go library goutils: abbreviating, wrapping, and the case of words.
import { byteLength } from '../value/bytes.ts';
import { fromByteText, lowerCase, SPACE, toByteText, upperCase } from './text.ts';

const ELLIPSIS = '...';

function abbreviateBytes(bytes: string, left: number, width: number): string {
  const { length } = bytes;
  if (length <= width) return bytes;
  const room = width - ELLIPSIS.length;
  let offset = Math.min(left, length);
  if (length - offset < room) offset = length - room;
  if (offset <= 4) return bytes.slice(0, room) + ELLIPSIS;
  if (width < 7) return '';
  if (offset + room < length) {
    // The rest is shortened in turn; below four characters goutils gives nothing.
    return ELLIPSIS + (room < 4 ? '' : abbreviateBytes(bytes.slice(offset), 0, room));
  }
  return ELLIPSIS + bytes.slice(length - room);
}

/** The text shortened to that many bytes, with dots where it was cut. */
export function abbreviate(text: string, left: number, width: number): string {
  return byteLength(text) <= width ? text : fromByteText(abbreviateBytes(toByteText(text), left, width));
}

const isSpace = (char: string): boolean => SPACE.test(char);

// These two look at bytes one by one, and write each back as a character of its own.
export function withoutSpaces(text: string): string {
  const bytes = Array.from(toByteText(text));
  const kept = bytes.filter((byte) => !isSpace(byte));
  return kept.length === bytes.length ? text : kept.join('');
}

export function initials(text: string): string {
  const bytes = Array.from(toByteText(text));
  return bytes.filter((byte, n) => !isSpace(byte) && (n === 0 || isSpace(bytes[n - 1] as string))).join('');
}

export function uncapitalize(text: string): string {
  return Array.from(text, (char, n) => [char, n] as const)
    .map(([char], n, all) => (n === 0 || isSpace(all[n - 1]?.[0] ?? '') ? lowerCase(char) : char))
    .join('');
}

const isUpper = (char: string): boolean => /^[\p{Lu}\p{Lt}]$/u.test(char);
const isLower = (char: string): boolean => /^\p{Ll}$/u.test(char);

export function swapCase(text: string): string {
  return Array.from(text, (char) => (isUpper(char) ? lowerCase(char) : isLower(char) ? upperCase(char) : char)).join(
    '',
  );
}

const WORD_CHAR = /[\p{L}\p{Nd}_]/u;

/** Whether a word may begin after the character, as strings.Title has it. */
function separates(char: string): boolean {
  if (WORD_CHAR.test(char)) return false;
  return char <= '\x7f' || isSpace(char);
}

export function titleCase(text: string): string {
  let previous = ' ';
  return Array.from(text, (char) => {
    const out = separates(previous) ? upperCase(char) : char;
    previous = char;
    return out;
  }).join('');
}

interface Wrapping {
  readonly bytes: string;
  readonly width: number;
  readonly newLine: string;
  readonly cutsWords: boolean;
}

/** The line that begins at that place, with its end, and where the next one begins. */
function nextLine({ bytes, width, newLine, cutsWords }: Wrapping, at: number): readonly [string, number] {
  const space = bytes.slice(at, at + width + 1).lastIndexOf(' ');
  if (space >= 0) return [bytes.slice(at, at + space) + newLine, at + space + 1];
  if (cutsWords) return [bytes.slice(at, at + width) + newLine, at + width];
  const next = bytes.indexOf(' ', at + width);
  return next < 0 ? [bytes.slice(at), bytes.length] : [bytes.slice(at, next) + newLine, next + 1];
}

export function wrapText(text: string, width: number, separator: string, cutsWords: boolean): string {
  const bytes = toByteText(text);
  const newLine = separator === '' ? '\n' : toByteText(separator);
  const wrapping = { bytes, width: Math.max(1, width), newLine, cutsWords };
  let out = '';
  let at = 0;
  while (bytes.length - at > wrapping.width) {
    if (bytes[at] === ' ') {
      at++;
      continue;
    }
    const [line, next] = nextLine(wrapping, at);
    out += line;
    at = next;
  }
  return fromByteText(out + bytes.slice(at));
}
