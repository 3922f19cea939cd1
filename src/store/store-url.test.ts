import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { parseStoreUrl } from './store-url.ts';

test.each([
  ['/var/lib/muster', '/var/lib/muster'],
  ['sqlite:/var/lib/muster', '/var/lib/muster'],
  ['sqlite:///var/lib/muster', '/var/lib/muster'],
  ['sqlite:data', `${process.cwd()}/data`],
  ['./data', `${process.cwd()}/data`],
])('%s is a directory for SQLite', (url, directory) => {
  expect(parseStoreUrl(url)).toEqual({ kind: 'sqlite', directory });
});

test.each(['postgres://u:p@h/d', 'postgresql://h/d', 'POSTGRES://h/d'])('%s is a PostgreSQL', (url) => {
  expect(parseStoreUrl(url)).toEqual({ kind: 'postgres', url });
});

test.each(['', 'sqlite:', 'mysql://root:planted-secret@h/d', 'https://u:planted-secret@h'])('%s is refused', (url) => {
  let fault: Fault | undefined;
  try {
    parseStoreUrl(url);
  } catch (thrown) {
    fault = Fault.from(thrown);
  }

  expect(fault?.kind).toBe('invalid');
  expect(fault?.remedy).toContain('postgres://');
  expect(`${fault?.message} ${fault?.remedy}`).not.toContain('planted-secret');
});
