import fc from 'fast-check';
import { expect, it } from 'vitest';
import { selectPage } from './page.ts';

it('pages hold every row once, in order, however they were inserted', () => {
  const keys = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 60 });
  const orders = fc.constantFrom('ascending' as const, 'descending' as const);

  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 10 }), orders, (rows, limit, order) => {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = selectPage(rows, { keyOf: (row) => row, limit, order, after });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items);
        after = page.next;
      } while (after !== undefined);
      const sorted = rows.toSorted((a, b) => (a < b ? -1 : 1));
      expect(seen).toEqual(order === 'ascending' ? sorted : sorted.toReversed());
    }),
  );
});

it('a page of very many rows is the first of them', () => {
  const rows = Array.from({ length: 50_000 }, (_, at) => String((at * 7_919) % 50_000).padStart(5, '0'));

  const page = selectPage(rows, { keyOf: (row) => row, limit: 3, order: 'descending' });

  expect(page).toEqual({ items: ['49999', '49998', '49997'], next: '49997' });
});
