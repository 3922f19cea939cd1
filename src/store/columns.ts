import { createHash } from 'node:crypto';

/** Never part of a column's text, so that many texts can travel as one. */
export const SEPARATOR = '\x1f';

// PostgreSQL refuses index entries over about 2,700 bytes; three bytes a character, three columns.
const LONGEST_COLUMN = 250;
// A noncharacter: no text of ours begins with it.
const DIGEST_SIGN = '\ufffe';

function isPlain(text: string): boolean {
  if (text.length === 0 || text.length > LONGEST_COLUMN || !text.isWellFormed()) return false;
  return !text.includes('\0') && !text.includes(SEPARATOR) && !text.startsWith(DIGEST_SIGN);
}

/**
 * What a text is as a column: itself, or a digest where a database would refuse or change it. Equal texts have equal
 * columns and others have others; the text itself is in the row's body.
 */
export function columnText(text: string): string {
  if (isPlain(text)) return text;
  // As JSON, since hashing alone takes all halves of broken surrogate pairs for the same character.
  return DIGEST_SIGN + createHash('sha256').update(JSON.stringify(text)).digest('hex');
}
