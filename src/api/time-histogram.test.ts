import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { scrapeText } from './scrape-text.ts';
import { TimeHistogram } from './time-histogram.ts';

const BUCKETS = [0.001, 0.01, 0.5, 1, 60];
const ABOUT = { name: 'a_seconds', help: 'About a.' };

const seconds = fc.oneof(fc.constantFrom(...BUCKETS, 0), fc.double({ min: 0, max: 1_000, noNaN: true }));
const observations = fc.array(fc.tuple(fc.constantFrom('x', 'y', 'z"\\'), seconds), { maxLength: 50 });

it('shows what the histogram of the library shows', async () => {
  await fc.assert(
    fc.asyncProperty(observations, async (observed) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const own = new TimeHistogram({ ...ABOUT, buckets: BUCKETS, registry: ours });
      const known = new Histogram({ ...ABOUT, buckets: BUCKETS, labelNames: ['kind'], registers: [theirs] });
      for (const [kind, value] of observed) {
        own.observe(kind, () => ({ kind }), value);
        known.observe({ kind }, value);
      }

      expect(await scrapeText(ours, new VirtualClock())).toBe(await scrapeText(theirs, new VirtualClock()));
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});

it('shows a series that was opened and has no observation yet', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  new TimeHistogram({ ...ABOUT, buckets: BUCKETS, registry: ours }).open('', {});
  new Histogram({ ...ABOUT, buckets: BUCKETS, registers: [theirs] });

  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it('asks for the labels of a series once', () => {
  const histogram = new TimeHistogram({ ...ABOUT, buckets: BUCKETS, registry: new Registry() });
  let asked = 0;
  for (let n = 0; n < 3; n++)
    histogram.observe(
      'key',
      () => {
        asked += 1;
        return {};
      },
      n,
    );

  expect(asked).toBe(1);
});
