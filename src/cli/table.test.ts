import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { oneLine, pairsLine, renderFacts, renderTable } from './table.ts';

const rows = [
  { name: 'gpu', count: 12, note: '' },
  { name: 'größer', count: undefined, note: 'held' },
];

test('columns are as wide as their widest cell, and no line ends in blanks', () => {
  const table = renderTable(rows, [
    { title: 'NAME', value: (row) => row.name },
    { title: 'COUNT', value: (row) => row.count, align: 'right' },
    { title: 'NOTE', value: (row) => row.note },
  ]);

  expect(stripVTControlCharacters(table).split('\n')).toEqual([
    'NAME    COUNT  NOTE',
    'gpu        12',
    'größer      -  held',
  ]);
});

test('facts that are absent are left out', () => {
  const facts = renderFacts([
    ['Name', 'gpu'],
    ['Description', undefined],
    ['Revision', 0],
  ]);

  expect(stripVTControlCharacters(facts)).toBe('Name      gpu\nRevision  0');
});

test('what others wrote stays in one line, and does nothing to the terminal', () => {
  expect(oneLine('one\r\n  two\n\nthree\n')).toBe('one; two; three');
  expect(oneLine('\u001b[2Jred\u009b31m\u0007')).toBe(' [2Jred 31m ');
  expect(pairsLine({ a: 'b\u001b]0;x', c: 1 })).toBe('a=b ]0;x, c=1');
});
