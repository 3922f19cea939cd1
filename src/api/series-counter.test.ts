import { Counter, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { openSeriesCounter } from './series-counter.ts';

const ABOUT = { name: 'a_total', help: 'About a.', labelNames: ['pool', 'how'] };

it('shows what the counter of the library shows', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const own = openSeriesCounter({ ...ABOUT, registry: ours });
  const known = new Counter({ ...ABOUT, registers: [theirs] });
  for (const pool of ['a', 'b"\\', 'a', 'a']) {
    own.increase(pool, () => ({ pool, how: 'exited' }));
    known.inc({ pool, how: 'exited' });
  }

  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it('forgets the series whose labels match, and no other', async () => {
  const registry = new Registry();
  const counter = openSeriesCounter({ ...ABOUT, registry });
  for (const pool of ['a', 'b']) counter.increase(pool, () => ({ pool, how: 'exited' }));

  counter.drop(({ pool }) => pool === 'a');
  counter.increase('b', () => ({}));

  expect(await registry.metrics()).toContain('\na_total{pool="b",how="exited"} 2\n');
  expect(await registry.metrics()).not.toContain('pool="a"');
});
