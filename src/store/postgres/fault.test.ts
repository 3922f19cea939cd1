import { expect, test } from 'vitest';
import { isPassing, postgresFault } from './fault.ts';

const answered = (code: string, message = 'no'): Error =>
  Object.assign(new Error(message), { code, severity: 'ERROR' });

test.each([
  ['28P01', 'denied'],
  ['3D000', 'missing'],
  ['42501', 'denied'],
  ['53100', 'unavailable'],
  ['57P01', 'unavailable'],
  ['42601', 'internal'],
])('SQLSTATE %s is %s', (code, kind) => {
  expect(postgresFault(answered(code), 'postgres://h/d').kind).toBe(kind);
});

test('a connection that breaks may come back; a refused statement may not', () => {
  const broken = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  const passing = [broken, new Error('Connection terminated unexpectedly'), answered('57P01'), answered('40001')];
  const lasting = [answered('22P02'), answered('28P01'), answered('53100'), answered('42P01')];

  expect(passing.map(isPassing)).toEqual([true, true, true, true]);
  expect(lasting.map(isPassing)).toEqual([false, false, false, false]);
});

test.each(['postgres://me:pl%40nted@host/db', 'postgres://host/db?user=me&password=pl%40nted'])(
  'the password of %s is in no fault',
  (url) => {
    const { message } = postgresFault(new Error(`cannot use ${url} with pl@nted`), url);

    expect(message).toContain('***');
    expect(message).not.toContain('pl@nted');
    expect(message).not.toContain('pl%40nted');
  },
);
