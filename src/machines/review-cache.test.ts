import { expect, it } from 'vitest';
import type { Listing } from '#clouds/listing.ts';
import type { Machine } from '#core/provider.ts';
import { openReviewCache } from './review-cache.ts';

const machine = (name: string): Machine => ({ name, mark: undefined, createdAt: 0, state: 'running' });
const [a, b, c] = [machine('a'), machine('b'), machine('c')];

const listing = (count: number, machines: readonly Machine[], before?: Listing): Listing => ({
  cloud: 'here',
  startedMs: count,
  endedAt: count,
  count,
  before,
  machines: new Map(machines.map((each) => [each.name, each])),
});

/** The names that a review would look at. */
function lookedAt(settled: ReturnType<typeof openReviewCache>, shown: Listing, open: readonly string[] = []): string[] {
  const reviewed = settled.begin(shown);
  return [...shown.machines.values()].flatMap((each) => {
    if (open.includes(each.name)) reviewed.keepForNextReview(each);
    return reviewed.isUnchanged(each, reviewed.before(each)) ? [] : [each.name];
  });
}

it('looks only at what its cloud shows otherwise than in the review before', () => {
  const settled = openReviewCache();
  const first = listing(1, [a, b, c]);
  expect(lookedAt(settled, first)).toEqual(['a', 'b', 'c']);
  const second = listing(2, [c, { ...b }, machine('d'), a], first);
  expect(lookedAt(settled, second)).toEqual(['b', 'd']);
});

it('looks again at what had no row, and at what has lost its row since', () => {
  const settled = openReviewCache();
  const first = listing(1, [a, b, c]);
  lookedAt(settled, first, ['b']);
  settled.invalidate('here', 'c');
  settled.invalidate('elsewhere', 'a');
  const second = listing(2, [a, b, c], first);
  expect(lookedAt(settled, second)).toEqual(['b', 'c']);
  settled.invalidate(undefined, 'a');
  expect(lookedAt(settled, listing(3, [a, b, c], second))).toEqual(['a', 'b', 'c']);
});

it('looks at all where the listing before was never reviewed, and now and then anyway', () => {
  const settled = openReviewCache();
  const first = listing(1, [a, b]);
  lookedAt(settled, first);
  const skipped = listing(2, [a, b], first);
  const third = listing(3, [a, b], skipped);
  expect(lookedAt(settled, third)).toEqual(['a', 'b']);
  expect(lookedAt(settled, listing(8, [a, b], third))).toEqual(['a', 'b']);
});
