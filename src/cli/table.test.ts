import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { renderFacts, renderTable } from './table.ts';

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
