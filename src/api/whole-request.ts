// One plain request in one piece. Stricter than HTTP: whatever this reads, every parser reads in the same way.
const REQUEST_LINE = /^(GET|HEAD|POST|PUT|PATCH|DELETE) [\x21-\x7e]+ HTTP\/1\.1$/;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
// With these a request is more than a head and a body of that length, or the connection changes its meaning.
const UNUSUAL = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'http2-settings']);
const LENGTH = /^\d{1,6}$/;
const HEAD_END = '\r\n\r\n';
const LONGEST_HEAD = 8_192;
const [ZERO, NINE] = [0x30, 0x39];
const MOST_DIGITS = 6;

/** A request with a body whose length its head names. */
export interface WholeRequest {
  /** Its first line, and the name and value of each header, as they were written. */
  readonly lines: readonly string[];
  /** The head up to the length of the body, and from there to its end; undefined where there is no body. */
  readonly around: readonly [before: Buffer, after: Buffer] | undefined;
}

function isPlain(name: string, value: string): boolean {
  return !UNUSUAL.has(name) && (name !== 'connection' || value.toLowerCase() === 'keep-alive');
}

/** The request that this is, if it is exactly one, whole and plain. */
export function wholeRequest(chunk: Buffer): WholeRequest | undefined {
  const end = chunk.subarray(0, LONGEST_HEAD).indexOf(HEAD_END);
  const [first = '', ...headers] = chunk.toString('latin1', 0, Math.max(0, end)).split('\r\n');
  if (!REQUEST_LINE.test(first)) return undefined;
  const lines = [first];
  const start = end + HEAD_END.length;
  let at = first.length + 2;
  let digits: string | undefined;
  let digitsAt = 0;
  for (const header of headers) {
    const [, name = '', value = ''] = HEADER.exec(header) ?? [];
    const lower = name.toLowerCase();
    if (name === '' || !isPlain(lower, value)) return undefined;
    lines.push(name, value);
    at += header.length + 2;
    if (lower !== 'content-length') continue;
    if (digits !== undefined || !LENGTH.test(value)) return undefined;
    digits = value;
    digitsAt = at - 2 - value.length;
  }
  if (chunk.length !== start + Number(digits ?? 0)) return undefined;
  // Copied: a window would keep the whole chunk.
  const copy = (from: number, to: number): Buffer => Buffer.from(chunk.subarray(from, to));
  return {
    lines,
    around: digits === undefined ? undefined : [copy(0, digitsAt), copy(digitsAt + digits.length, start)],
  };
}

const begins = (chunk: Buffer, part: Buffer, at: number): boolean =>
  chunk.compare(part, 0, part.length, at, at + part.length) === 0;

/** The body of a whole request that has the same head, but for the length. */
export function bodyBehind([before, after]: readonly [Buffer, Buffer], chunk: Buffer): Buffer | undefined {
  if (chunk.length < before.length + after.length || !begins(chunk, before, 0)) return undefined;
  let at = before.length;
  let length = 0;
  for (; at < before.length + MOST_DIGITS; at++) {
    const digit = chunk[at] as number;
    if (!(digit >= ZERO && digit <= NINE)) break;
    length = length * 10 + digit - ZERO;
  }
  const start = at + after.length;
  const isWhole = at > before.length && chunk.length === start + length && begins(chunk, after, at);
  return isWhole ? chunk.subarray(start) : undefined;
}
