import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyBehind, wholeRequest } from './whole-request.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const post = (body: string, headers = ''): Buffer =>
  bytes(`POST /a HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${body.length}\r\nX-Last: 1\r\n\r\n${body}`);

describe('a whole request', () => {
  it('is one with a head and a body of the length that it names', () => {
    expect(wholeRequest(post('{}'))?.lines).toEqual([
      'POST /a HTTP/1.1',
      'Host',
      'h',
      'Content-Length',
      '2',
      'X-Last',
      '1',
    ]);
  });

  it('may have no body', () => {
    expect(wholeRequest(bytes('GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n'))?.around).toBeUndefined();
    expect(wholeRequest(bytes('GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n'))?.lines).toHaveLength(3);
  });

  it('may say that the connection is kept', () => {
    expect(wholeRequest(post('{}', 'Connection: Keep-Alive\r\n'))).toBeDefined();
  });

  it.each([
    ['cut off in its head', post('{}').subarray(0, 30)],
    ['cut off in its body', post('{}').subarray(0, -1)],
    ['followed by more', Buffer.concat([post('{}'), bytes('P')])],
    ['without a length, but with more behind it', bytes('GET / HTTP/1.1\r\nHost: h\r\n\r\nx')],
    ['of HTTP/1.0', bytes('GET / HTTP/1.0\r\nHost: h\r\n\r\n')],
    ['of another method', bytes('CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n')],
    ['with two lengths', post('{}', 'content-length: 2\r\n')],
    ['with a length that is no plain number', bytes('POST / HTTP/1.1\r\nContent-Length: +0\r\n\r\n')],
    ['with a list of lengths', bytes('POST / HTTP/1.1\r\nContent-Length: 0, 0\r\n\r\n')],
    ['in chunks', post('{}', 'Transfer-Encoding: chunked\r\n')],
    ['with an upgrade', post('{}', 'Upgrade: websocket\r\n')],
    ['that expects a word first', post('{}', 'Expect: 100-continue\r\n')],
    ['that ends its connection', post('{}', 'Connection: close\r\n')],
    ['with a folded header', post('{}', 'A: b\r\n c\r\n')],
    ['with a space before the colon', post('{}', 'A : b\r\n')],
    ['with other line ends', bytes('GET / HTTP/1.1\nHost: h\n\n')],
    ['with a bare line feed in a header', post('{}', 'A: b\nTransfer-Encoding: chunked\r\n')],
    ['with a bare carriage return in a header', post('{}', 'A: b\rc\r\n')],
    ['with other characters than ASCII', post('{}', 'A: \xe9\r\n')],
    ['with an empty line in front', Buffer.concat([bytes('\r\n'), post('{}')])],
    ['with a very long head', post('{}', `A: ${'b'.repeat(9_000)}\r\n`)],
  ])('is none that is %s', (_what, chunk) => {
    expect(wholeRequest(chunk)).toBeUndefined();
  });
});

describe('a body behind a known head', () => {
  const { around } = wholeRequest(post('{}')) ?? {};
  if (!around) throw new Error('The request is plain.');

  it('is found, whatever its length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }).map(bytes), (body) => {
        expect(bodyBehind(around, post(body.toString('latin1')))).toEqual(body);
      }),
    );
  });

  it.each([
    ['another head', post('{}', 'A: b\r\n')],
    ['another last header', bytes(post('{}').toString('latin1').replace('X-Last: 1', 'X-Last: 2'))],
    ['a longer length', bytes(post('{}').toString('latin1').replace('Length: 2', 'Length: 3'))],
    ['a shorter length', bytes(post('{}').toString('latin1').replace('Length: 2', 'Length: 1'))],
    ['no length', bytes(post('{}').toString('latin1').replace('Length: 2', 'Length: '))],
    ['a length of too many digits', bytes(post('{}').toString('latin1').replace('Length: 2', 'Length: 0000002'))],
    ['a rest of it missing', post('{}').subarray(0, -1)],
    ['a second request behind it', Buffer.concat([post('{}'), post('{}')])],
  ])('is not found with %s', (_what, chunk) => {
    expect(bodyBehind(around, chunk)).toBeUndefined();
  });

  it('is found in nothing that is not a whole request with that head', () => {
    const whole = post('{"a":1}');
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const chunk = Buffer.from(whole);
        chunk[at] = byte;
        const found = bodyBehind(around, chunk);
        if (found) expect(wholeRequest(chunk)).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });
});
