import { expect, test } from 'vitest';
import { append, type Change, drop, HISTORIES, put } from '#core/store.ts';
import { cellNames, historyTables } from './history-tables.ts';
import { type Cell, LIVE_COLUMNS, partMaker } from './parts.ts';
import { sampleEvent, sampleOutput, sampleWorker } from './testing/rows.ts';

const partsOf = partMaker(HISTORIES);
const widths = new Map(historyTables(HISTORIES).map((history) => [history.name, cellNames(history).length]));

function rowsOf(cells: readonly Cell[] = [], width = 0): readonly Cell[][] {
  return Array.from({ length: cells.length / width }, (_, at) => cells.slice(at * width, (at + 1) * width));
}

test('writes only the last state of a row', () => {
  const changes = [
    put('workers', sampleWorker('a')),
    put('workers', sampleWorker('b')),
    drop('workers', 'a'),
    put('workers', sampleWorker('b', { askedAt: 2 })),
    drop('workers', 'c'),
    put('workers', sampleWorker('c')),
  ];

  const [part, ...others] = [...partsOf(changes)];

  expect(others).toEqual([]);
  expect(rowsOf(part?.drops, LIVE_COLUMNS.drops.length)).toEqual([['workers', 'a']]);
  expect(
    rowsOf(part?.puts, LIVE_COLUMNS.puts.length).map(([, id, body]) => [id, JSON.parse(String(body)).askedAt]),
  ).toEqual([
    ['b', 2],
    ['c', 1],
  ]);
});

test('has the cells of a history row in the order of its columns, the most selective first', () => {
  const event = sampleEvent('1', { at: 5.5, pool: 'p1' });

  const [part] = [...partsOf([append('events', event), append('events', sampleEvent('2'))])];

  expect(rowsOf(part?.appended.events, widths.get('events'))).toEqual([
    ['1', 5.5, 'pool/a', 'p1', 'pool.created', JSON.stringify(event)],
    ['2', 1, 'pool/a', null, 'pool.created', JSON.stringify(sampleEvent('2'))],
  ]);
});

test('copies output out of whatever memory it is a slice of', () => {
  const large = new Uint8Array(1_000_000).fill(7);
  const chunks = [
    sampleOutput('s', 1, { data: large.subarray(10, 13) }),
    sampleOutput('s', 2, { data: large.subarray(0, 2) }),
  ];

  const [part] = [...partsOf(chunks.map((chunk) => append('output', chunk)))];

  expect(part?.data.buffer.byteLength).toBe(5);
  expect(rowsOf(part?.appended.output, widths.get('output')).map((row) => row.slice(-2))).toEqual([
    [0, 3],
    [3, 2],
  ]);
});

test('cuts many or large changes into parts that keep their order', () => {
  const many = Array.from({ length: 4_500 }, (_, at): Change => put('workers', sampleWorker('same', { askedAt: at })));
  const large = Array.from({ length: 10 }, (_, at) =>
    append('output', sampleOutput('s', at, { data: new Uint8Array(2 ** 20) })),
  );

  const manyParts = [...partsOf(many)];
  const largeParts = [...partsOf(large)];

  expect(manyParts.map(({ puts }) => JSON.parse(String(puts[2])).askedAt)).toEqual([1_999, 3_999, 4_499]);
  expect(largeParts.map(({ data }) => data.byteLength / 2 ** 20)).toEqual([4, 4, 2]);
});
