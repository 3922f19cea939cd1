// Header blocks of HTTP/2 (RFC 7541): all of it to read them, the plainest form to write them.
import { Fault } from '#core/fault.ts';
import { decodeHuffman } from './huffman.ts';

type Header = readonly [name: string, value: string];

// RFC 7541, appendix A. A name stands alone where it has no value there.
const STATIC: readonly Header[] =
  `:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204|
:status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate|accept-language|
accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|
content-language|content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|
if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|
proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|
vary|via|www-authenticate`
    .replaceAll('\n', '')
    .split('|')
    .map((entry) => {
      const [name = '', ...value] = entry.split(' ');
      return [name, value.join(' ')];
    });

const ENTRY_OVERHEAD = 32;
// Both sides begin with it (RFC 9113, 6.5.2), and we never ask for another.
const TABLE_BYTES = 4_096;
const MOST_INTEGER_BYTES = 4;
/** Of names and values with their overhead: one byte of a block may stand for a header of four thousand. */
export const LONGEST_LIST_BYTES = 16_384;

const invalid = (): Fault => new Fault('invalid', 'The headers are not valid HPACK.');
const sizeOf = ([name, value]: Header): number => name.length + value.length + ENTRY_OVERHEAD;

/** Reads the header blocks of one connection, each once and in order: they build on each other. */
export class HeaderReader {
  // The newest last.
  #table: Header[] | undefined;
  #tableBytes = 0;
  #mostTableBytes = TABLE_BYTES;
  #block: Uint8Array = new Uint8Array();
  #at = 0;

  /** Throws a `Fault`: `invalid` for a broken block, `throttled` for one with too much in it. The connection is over then. */
  read(block: Uint8Array): readonly Header[] {
    this.#block = block;
    this.#at = 0;
    const headers: Header[] = [];
    let listBytes = 0;
    while (this.#at < block.length) {
      const header = this.#next(headers.length === 0);
      if (!header) continue;
      listBytes += sizeOf(header);
      if (listBytes > LONGEST_LIST_BYTES) throw new Fault('throttled', 'The headers are too long.');
      headers.push(header);
    }
    this.#block = new Uint8Array();
    return headers;
  }

  /** Undefined where the table only gets another size, which is allowed before the first header. */
  #next(isFirst: boolean): Header | undefined {
    const byte = this.#block[this.#at] as number;
    if (byte >= 0x80) return this.#entry(this.#integer(7));
    if (byte >= 0x40) return this.#keep(this.#literal(6));
    if (byte < 0x20) return this.#literal(4);
    if (!isFirst) throw invalid();
    this.#mostTableBytes = this.#integer(5);
    if (this.#mostTableBytes > TABLE_BYTES) throw invalid();
    this.#evict();
    return undefined;
  }

  #literal(prefixBits: number): Header {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#text() : this.#entry(index)[0];
    return [name, this.#text()];
  }

  #keep(header: Header): Header {
    this.#table ??= [];
    this.#table.push(header);
    this.#tableBytes += sizeOf(header);
    this.#evict();
    return header;
  }

  #evict(): void {
    while (this.#tableBytes > this.#mostTableBytes) {
      const oldest = this.#table?.shift();
      if (!oldest) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }

  #entry(index: number): Header {
    const own = index - STATIC.length;
    const entry = own <= 0 ? STATIC[index - 1] : this.#table?.[this.#table.length - own];
    if (!entry) throw invalid();
    return entry;
  }

  #byte(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw invalid();
    this.#at += 1;
    return byte;
  }

  #integer(prefixBits: number): number {
    const most = 2 ** prefixBits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let count = 0; count < MOST_INTEGER_BYTES; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 128 ** count;
      if (byte < 0x80) return value;
    }
    throw invalid();
  }

  #text(): string {
    const isHuffman = ((this.#block[this.#at] as number) & 0x80) !== 0;
    const end = this.#integer(7) + this.#at;
    if (end > this.#block.length) throw invalid();
    const bytes = this.#block.subarray(this.#at, end);
    this.#at = end;
    if (!isHuffman) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const text = decodeHuffman(bytes);
    if (text === undefined) throw invalid();
    return text;
  }
}

function integerBytes(value: number, prefixBits: number): number[] {
  const most = 2 ** prefixBits - 1;
  if (value < most) return [value];
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.from(integerBytes(bytes.length, 7)), bytes]);
}

// After a client has made its table smaller, a block must begin so (RFC 9113, 4.3.1). We use no table, whatever it allows.
const NO_TABLE = Buffer.from([0x20]);

/** A block that needs no table: every header as it is, apart from those that are static as a whole. Names in lower case. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(headers).map(([name, value]) => {
    const at = STATIC.findIndex((entry) => entry[0] === name && entry[1] === value && value !== '');
    return at >= 0
      ? Buffer.from([0x80 + at + 1])
      : Buffer.concat([Buffer.from([0]), textBytes(name), textBytes(value)]);
  });
  return Buffer.concat([NO_TABLE, ...parts]);
}
