import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openEventHeap } from './event-heap.ts';

it('events come in the order of their times, and equal ones in the order in which they were put', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const heap = openEventHeap<{ atMs: number; nth: number }>();
      const events = times.map((atMs, nth) => ({ atMs, nth }));
      for (const event of events) heap.put(event);

      const taken = events.map(() => heap.take());

      expect(taken).toEqual(events.toSorted((a, b) => a.atMs - b.atMs || a.nth - b.nth));
      expect(heap.take()).toBeUndefined();
    }),
  );
});
