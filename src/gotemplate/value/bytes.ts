// Go's strings are bytes. A byte that is no part of valid UTF-8 is kept as a lone surrogate U+DC80 to U+DCFF.
// biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII character counts
const ASCII = /^[\x00-\x7f]*$/;
const STRAY = /[\udc80-\udcff]/;
const STRAY_BASE = 0xdc00;

export const isAscii = (text: string): boolean => ASCII.test(text);

/** Whether some byte of it is not valid UTF-8. */
export function hasStrayBytes(text: string): boolean {
  return STRAY.test(text) && !text.isWellFormed();
}

export const byteLength = (text: string): number => (ASCII.test(text) ? text.length : bytesOf(text).length);

export function bytesOf(text: string): Buffer {
  if (!hasStrayBytes(text)) return Buffer.from(text);
  const parts = [...text].map((char) => {
    const code = char.codePointAt(0) ?? 0;
    return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - STRAY_BASE]) : Buffer.from(char);
  });
  return Buffer.concat(parts);
}

export function textOfBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const width = runeWidth(bytes, at);
    out += width === 0 ? String.fromCharCode(STRAY_BASE + (bytes[at] as number)) : decode(bytes, at, width);
    at += Math.max(1, width);
  }
  return out;
}

const decode = (bytes: Uint8Array, at: number, width: number): string =>
  Buffer.from(bytes.subarray(at, at + width)).toString('utf8');

/** How many bytes the character at that place has; 0 where it is none. */
function runeWidth(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + width > bytes.length) return 0;
  const text = decode(bytes, at, width);
  return text.length > 0 && !text.includes('\ufffd') ? width : isReplacement(bytes, at) ? 3 : 0;
}

const isReplacement = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;

/** `text[from:to]` of Go. The caller has checked the bounds. */
export function sliceBytes(text: string, from: number, to?: number): string {
  if (ASCII.test(text)) return text.slice(from, to);
  return textOfBytes(bytesOf(text).subarray(from, to));
}

/** The characters as Go's `range` over a string gives them: a stray byte is U+FFFD. */
export function runesOf(text: string): string[] {
  return Array.from(text, (char) => (STRAY.test(char) && char.length === 1 ? '\ufffd' : char));
}
