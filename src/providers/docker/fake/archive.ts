import { Buffer } from 'node:buffer';

const BLOCK = 512;

/** The files of a tar archive by path; folders have no entry. */
export function filesIn(archive: Uint8Array): Map<string, string> {
  const files = new Map<string, string>();
  const bytes = Buffer.from(archive);
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const textAt = (from: number, length: number): string =>
      bytes.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '');
    const size = Number.parseInt(textAt(124, 12).trim() || '0', 8);
    const from = at + BLOCK;
    if (textAt(156, 1) !== '5') files.set(textAt(0, 100), bytes.toString('utf8', from, from + size));
    at = from + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
