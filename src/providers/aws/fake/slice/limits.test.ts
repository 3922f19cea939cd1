import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import { AWS_SLICE } from './testing.ts';

it('more stopped machines to keep replaces no instance, another type all of them', async () => {
  const world = await openSliceWorld(AWS_SLICE);
  const define = (backend: Readonly<Record<string, unknown>>): void =>
    void world.documents.write('pools', 'gpu', documentOf(AWS_SLICE, 'gpu', { backend }));
  const names = (): string[] => world.machines().map(({ name }) => name);
  define({});
  await world.clock.advance(5 * MINUTE_MS);
  const before = names();

  define({ max_stopped_instances: 2, max_instance_lifetime: '24h' });
  await world.clock.advance(30 * MINUTE_MS);
  const kept = names();
  define({ max_stopped_instances: 2, max_instance_lifetime: '24h', instance_type: 'g4dn.xlarge' });
  await world.clock.advance(30 * MINUTE_MS);

  expect(before).toHaveLength(1);
  expect(kept).toEqual(before);
  expect(names()).toHaveLength(1);
  expect(names()).not.toEqual(before);
});
