// What programs print may hold characters that draw nothing, turn text around or move the cursor: a page shows each of them.

/** A stretch of output: as it stands, or in place of what would not be seen. */
export interface VisiblePiece {
  readonly text: string;
  readonly isControl: boolean;
}

// Whole sequences of a terminal, single control characters, characters without width, and those that change the direction.
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const CARET_FROM = 0x40;
const DELETE = 0x7f;

/** `^[` for escape, as terminals and pagers write it; further ones by their number. */
function writtenOut(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20 || code === DELETE) return `^${String.fromCodePoint(code ^ CARET_FROM)}`;
  return code < DELETE ? letter : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Text in pieces, with every control character visible; line ends and tabs stay. */
export function visiblePieces(text: string): readonly VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(CONTROLS)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isControl: false });
    pieces.push({ text: Array.from(found, writtenOut).join(''), isControl: true });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isControl: false });
  return pieces;
}
