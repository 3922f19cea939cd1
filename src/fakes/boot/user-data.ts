// User data as cloud-init reads it: base64, perhaps packed, a script or a multipart that holds some.
import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';

interface Part {
  readonly head: string;
  readonly bytes: Buffer;
}

const unpacked = (bytes: Buffer): Buffer => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes);

/** Head and body are parted by the first empty line. */
function splitHead(bytes: Buffer): Part {
  const text = bytes.toString('latin1');
  const gap = /\r?\n\r?\n/.exec(text);
  if (!gap) return { head: '', bytes };
  return { head: text.slice(0, gap.index), bytes: bytes.subarray(gap.index + gap[0].length) };
}

function headerOf(head: string, name: string): string {
  const unfolded = head.replace(/\r?\n[ \t]+/g, ' ');
  return new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? '';
}

function decoded({ head, bytes }: Part): Buffer {
  const coding = headerOf(head, 'Content-Transfer-Encoding').toLowerCase();
  return coding === 'base64' ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

function partsOf({ head, bytes }: Part): Part[] {
  const boundary = /boundary="?([^";]+)"?/i.exec(headerOf(head, 'Content-Type'))?.[1];
  if (boundary === undefined) return [];
  const pieces = bytes.toString('latin1').split(new RegExp(`(?:^|\\r?\\n)--${escaped(boundary)}`));
  return pieces
    .slice(1)
    .filter((piece) => !piece.startsWith('--'))
    .map((piece) => splitHead(Buffer.from(piece.replace(/^[ \t]*\r?\n/, ''), 'latin1')));
}

const isMultipart = (head: string): boolean => /^multipart\//i.test(headerOf(head, 'Content-Type'));

/** All scripts of user data, in order; parts of other kinds are not for a shell. */
export function scriptsIn(base64: string): string[] {
  return scriptsOf(unpacked(Buffer.from(base64, 'base64')));
}

function scriptsOf(bytes: Buffer): string[] {
  const text = bytes.toString('utf8');
  if (text.startsWith('#!')) return [text];
  const whole = splitHead(bytes);
  if (!isMultipart(whole.head)) return [];
  return partsOf(whole).flatMap((part) => scriptsOf(isMultipart(part.head) ? rejoined(part) : unpacked(decoded(part))));
}

/** A multipart within a multipart, as it would stand alone. */
function rejoined({ head, bytes }: Part): Buffer {
  return Buffer.concat([Buffer.from(`${head}\n\n`, 'latin1'), bytes]);
}
