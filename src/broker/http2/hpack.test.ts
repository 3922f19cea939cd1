import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { HeaderReader, headerBlock, LONGEST_LIST_BYTES } from './hpack.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/** The lists of these blocks, as one connection brings them. */
function read(...blocks: readonly string[]) {
  const reader = new HeaderReader();
  return blocks.map((block) => reader.read(hex(block)));
}

/** The kind of the fault that reading throws, or what was read. */
function faultOf(reading: () => unknown): unknown {
  try {
    return reading();
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.kind : thrown;
  }
}

/** A header that is not kept, named `a`, with this value. */
const aHeader = (value: string): string => `00 01 61 ${value}`;

const KEPT = '40 0a 637573746f6d2d6b6579 0d 637573746f6d2d686561646572';
const KEPT_HEADER = ['custom-key', 'custom-header'];
const NEWEST = 'be';
const TO_EMPTY = '20';
const TO_256 = '3f e1 01';
const TO_4096 = '3f e1 1f';
const TO_4097 = '3f e2 1f';

describe('the examples of RFC 7541, appendix C', () => {
  test('of single headers are read', () => {
    expect(read(KEPT)).toEqual([[KEPT_HEADER]]);
    expect(read('04 0c 2f73616d706c652f70617468')).toEqual([[[':path', '/sample/path']]]);
    expect(read('10 08 70617373776f7264 06 736563726574')).toEqual([[['password', 'secret']]]);
    expect(read('82')).toEqual([[[':method', 'GET']]]);
  });

  test.each([
    [
      'as they are',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'in Huffman code',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('of requests on one connection are read, with strings %s', (_, blocks) => {
    const authority = [':authority', 'www.example.com'];
    const get = [':method', 'GET'];

    expect(read(...blocks)).toEqual([
      [get, [':scheme', 'http'], [':path', '/'], authority],
      [get, [':scheme', 'http'], [':path', '/'], authority, ['cache-control', 'no-cache']],
      [get, [':scheme', 'https'], [':path', '/index.html'], authority, ['custom-key', 'custom-value']],
    ]);
  });

  test.each([
    [
      'as they are',
      [
        `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
         546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
        '4803 3330 37c1 c0bf',
        `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
         6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
         2076 6572 7369 6f6e 3d31`,
      ],
    ],
    [
      'in Huffman code',
      [
        `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
         8f0b 97c8 e9ae 82ae 43d3`,
        '4883 640e ffc1 c0bf',
        `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
         dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
      ],
    ],
  ])('of answers that evict each other from a small table are read, with strings %s', (_, [first, ...blocks]) => {
    const date = (second: number) => ['date', `Mon, 21 Oct 2013 20:13:${second} GMT`];
    const common = [['cache-control', 'private'], date(21), ['location', 'https://www.example.com']];
    const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';

    expect(read(`${TO_256}${first}`, ...blocks)).toEqual([
      [[':status', '302'], ...common],
      [[':status', '307'], ...common],
      [
        [':status', '200'],
        ['cache-control', 'private'],
        date(22),
        ['location', 'https://www.example.com'],
        ['content-encoding', 'gzip'],
        ['set-cookie', cookie],
      ],
    ]);
  });
});

test('the static table has its 61 entries in their places', () => {
  expect(read('81 88 8f 90 9f ba bd')).toEqual([
    [
      [':authority', ''],
      [':status', '200'],
      ['accept-charset', ''],
      ['accept-encoding', 'gzip, deflate'],
      ['content-type', ''],
      ['user-agent', ''],
      ['www-authenticate', ''],
    ],
  ]);
});

describe('a table size update', () => {
  test('may come before the first header, several times', () => {
    expect(read(`${TO_EMPTY}${TO_4096}82`)).toEqual([[[':method', 'GET']]]);
  });

  test('is refused behind a header, and over the 4096 bytes that were agreed', () => {
    expect(faultOf(() => read(`82${TO_EMPTY}`))).toBe('invalid');
    expect(faultOf(() => read(TO_4097))).toBe('invalid');
  });

  test('to nothing forgets all headers, also when the table grows again', () => {
    expect(read(KEPT, NEWEST)[1]).toEqual([KEPT_HEADER]);
    expect(faultOf(() => read(KEPT, `${TO_EMPTY}${NEWEST}`))).toBe('invalid');
    expect(faultOf(() => read(KEPT, `${TO_EMPTY}${TO_4096}${NEWEST}`))).toBe('invalid');
  });

  test('lets a header that just fits be kept, and none that is a byte larger', () => {
    const to55 = '3f 18';
    const to54 = '3f 17';

    expect(read(`${to55}${KEPT}`, NEWEST)[1]).toEqual([KEPT_HEADER]);
    expect(faultOf(() => read(`${to54}${KEPT}`, NEWEST))).toBe('invalid');
  });
});

test('the oldest headers leave the table when it is full', () => {
  const reader = new HeaderReader();
  const keep = (value: string): Buffer => Buffer.concat([hex('40 01 61 7f c1 06'), Buffer.alloc(960, value)]);
  // 993 bytes each with name and overhead: four of them are kept.
  for (const value of '12345') reader.read(keep(value));

  const kept = reader.read(hex('be bf c0 c1')).map(([, value]) => value[0]);

  expect(kept).toEqual(['5', '4', '3', '2']);
  expect(faultOf(() => reader.read(hex('c2')))).toBe('invalid');
});

describe('a block is refused', () => {
  test.each([
    ['that names no index', '80'],
    ['with an index that is not in the table yet', NEWEST],
    ['with an index far behind the table', 'ff 00'],
    ['with a name that is not in the table', '7e 01 61'],
    ['with an integer that never ends', 'ff 80 80 80 80 80 80 80 80 80 80 01'],
    ['with an integer of many zeros', aHeader(`7f 80 80 80 80 80 80 00 ${'62'.repeat(127)}`)],
    ['with an integer that is cut off', 'ff 80'],
    ['with an integer that is cut off at its first byte', '0f'],
    ['with a name longer than the block', '00 03 61 62'],
    ['with a value longer than the block', aHeader('03 62 63')],
    ['with a value of hundreds of millions of bytes', aHeader('7f ff ff ff 7f 62')],
    ['without a name', '00'],
    ['without a value', '00 01 61'],
    ['with zeros behind Huffman code', aHeader('81 00')],
    ['with a byte of ones behind Huffman code', aHeader('82 07 ff')],
    ['with ones alone as Huffman code', aHeader('81 ff')],
    ['with the end-of-string symbol in Huffman code', aHeader('84 ff ff ff ff')],
  ])('%s', (_, block) => {
    expect(faultOf(() => read(block))).toBe('invalid');
  });
});

test('Huffman code may end with the beginning of the end-of-string symbol', () => {
  expect(read(aHeader('81 07'))).toEqual([[['a', '0']]]);
  expect(read(aHeader('80'))).toEqual([[['a', '']]]);
});

test('Huffman code has every byte', () => {
  const code = Buffer.from(
    [
      '/8f//Y///+L///4////k///+X///5v///n///+j//+r////z///6f///q////9///+v///7P///t///+7///7////w////H///8v////v///z/',
      '///T///9f///2////f///+P///5////r///+1P4/n/r/yr8f6/r+/n/f0suwAImWm3HXn7n3//IP+/8/9Q3b1/BhxY8mXNn0adWvZt3b+HHl+c',
      '/3/3//w/+f/kX/9HGSQss05unWimo9faxCbe/jz69//7/n/7/9////z//m//9L//n//6P//T//9T//1f//s//+t//9r//7f//3P//u///e///r',
      '//+////Z///b//6///4P//7v//w///i///H//+T//uf/+x//+X//2f//zf//n///v//9r//u//9P//t//+5//+j//9P//e///V//7v//vf//4f',
      '/9///3///1///s//8H//h//+D//xf//t//+H//93//7//+r//4v//j//+T//+H//y///N///H///g///4f/+v//j//8///8v//o///2f//8X//',
      '/H///yf//97///v///8v//+P//+3//l//4///+b///wf//+H///n///8X//+X//k//8v///R///0////7///4////J///5f/+z///P//t//83/',
      '/0//+f//0f//z//+r//6///93//+////T///X///q///p///1///+b///s///7f///P///6P///T///6v///X////3///s///9v///u///9///',
      '/w///7vw==',
    ].join(''),
    'base64',
  );

  const [header] = new HeaderReader().read(Buffer.concat([hex('00 01 61 ff c8 03'), code]));

  expect(header).toEqual(['a', String.fromCharCode(...Array(256).keys())]);
});

describe('a list', () => {
  test('of the greatest length is read, and none that is a byte longer', () => {
    const longValue = (bytes: number) => 'x'.repeat(bytes - 'a'.length - 32);
    const blockOf = (bytes: number) => headerBlock({ a: longValue(bytes) });

    expect(new HeaderReader().read(blockOf(LONGEST_LIST_BYTES))).toEqual([['a', longValue(LONGEST_LIST_BYTES)]]);
    expect(faultOf(() => new HeaderReader().read(blockOf(LONGEST_LIST_BYTES + 1)))).toBe('throttled');
  });

  test('may not grow far beyond its block by the table', () => {
    const reader = new HeaderReader();
    reader.read(Buffer.concat([hex('40 01 61 7f a1 1e'), Buffer.alloc(4_000, 'x')]));

    expect(reader.read(hex('be be be be'))).toHaveLength(4);
    expect(faultOf(() => reader.read(hex('be be be be be')))).toBe('throttled');
  });
});

test('what is written is read back, whatever it says', () => {
  const text = (unit: 'grapheme-ascii' | 'binary-ascii') => fc.string({ unit, maxLength: 300 });
  const own = fc.tuple(text('grapheme-ascii'), text('binary-ascii'));
  const known = fc.constantFrom<[string, string]>([':status', '200'], [':status', '201'], ['accept', ''], ['te', 'x']);
  fc.assert(
    fc.property(fc.array(fc.oneof(own, known), { maxLength: 10 }), (list) => {
      const headers = Object.fromEntries(list);

      expect(new HeaderReader().read(headerBlock(headers))).toEqual(Object.entries(headers));
    }),
  );
});

test('a header that is static as a whole takes one byte', () => {
  expect(headerBlock({ ':status': '200' }).length - headerBlock({}).length).toBe(1);
});

test('random bytes are read or refused, never more', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 4 }), (blocks) => {
      const reader = new HeaderReader();
      const outcome = faultOf(() => blocks.flatMap((block) => reader.read(block)));

      expect(Array.isArray(outcome) ? 'read' : outcome).toMatch(/^(read|invalid|throttled)$/);
    }),
    { numRuns: 1_000 },
  );
});
