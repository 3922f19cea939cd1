import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Worker } from '#core/worker.ts';
import { sampleWorker } from './testing/rows.ts';
import { memoryTable } from './view.ts';

test('finds a row under its new key and no longer under its old one', () => {
  const workers = memoryTable('workers');
  workers.set('m-1', sampleWorker('m-1', { pool: 'p1', launch: 'l1' }));

  const before = workers.set('m-1', sampleWorker('m-1', { pool: 'p2' }));

  expect(before?.pool).toBe('p1');
  expect([workers.count('pool', 'p1'), workers.count('pool', 'p2'), workers.count('launch', 'l1')]).toEqual([0, 1, 0]);
  expect([...workers.by('pool', 'p1')]).toEqual([]);
});

test('gives rows in the order in which they came, whatever happened to them since', () => {
  const workers = memoryTable('workers');
  for (const id of ['c', 'a', 'b']) workers.set(id, sampleWorker(id));

  workers.set('c', sampleWorker('c', { askedAt: 2 }));

  expect([...workers.by('pool', 'p1')].map((worker) => worker.id)).toEqual(['c', 'a', 'b']);
  expect([...workers.all()].map((worker) => worker.id)).toEqual(['c', 'a', 'b']);
});

test('may be written while it is read', () => {
  const workers = memoryTable('workers');
  for (const id of ['a', 'b', 'c']) workers.set(id, sampleWorker(id));

  const seen: string[] = [];
  for (const { id } of workers.by('pool', 'p1')) {
    seen.push(id);
    workers.set(id, id === 'b' ? undefined : sampleWorker(id, { askedAt: 9 }));
  }
  for (const { id } of workers.by('machine', 'a')) workers.set(id, undefined);

  expect(seen).toEqual(['a', 'b', 'c']);
  expect([...workers.all()].map(({ id, askedAt }) => [id, askedAt])).toEqual([['c', 9]]);
});

test('agrees with a plain list after any changes', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const row = fc.record({ id, pool: fc.constantFrom('p1', 'p2'), launch: fc.constantFrom('l1', 'l2', undefined) });
  const step = fc.oneof(
    row.map(({ id, ...more }) => ({ id, row: sampleWorker(id, more) })),
    id.map((gone) => ({ id: gone, row: undefined })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const workers = memoryTable('workers');
      const plain = new Map<string, Worker>();

      for (const { id, row } of steps) {
        workers.set(id, row);
        if (row) plain.set(id, row);
        else plain.delete(id);
      }

      const all = [...plain.values()];
      expect(workers.size).toBe(all.length);
      for (const index of ['pool', 'launch'] as const) {
        for (const key of ['p1', 'p2', 'l1', 'l2']) {
          const wanted = all.filter((worker) => worker[index] === key);
          expect(new Set(workers.by(index, key))).toEqual(new Set(wanted));
          expect(workers.count(index, key)).toBe(wanted.length);
        }
      }
    }),
  );
});
