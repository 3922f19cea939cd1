import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from './heap.ts';

type Item = { id: string; weight: number };

const step = fc.record({
  do: fc.constantFrom('put', 'put', 'remove'),
  id: fc.integer({ min: 0, max: 12 }).map(String),
  weight: fc.integer({ min: 0, max: 9 }),
});

test('always has the least item first, whatever was put, changed and removed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const isBefore = (a: Item, b: Item) => a.weight < b.weight || (a.weight === b.weight && a.id < b.id);
      const heap = new Heap<Item>(isBefore);
      const model = new Map<string, Item>();
      for (const { do: what, id, weight } of steps) {
        if (what === 'put') {
          heap.put({ id, weight });
          model.set(id, { id, weight });
        } else {
          heap.remove(id);
          model.delete(id);
        }

        const [least] = [...model.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1));
        expect(heap.first()).toEqual(least);
        expect(heap.size).toBe(model.size);
      }
    }),
  );
});
