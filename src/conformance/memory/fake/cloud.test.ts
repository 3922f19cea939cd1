import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { bootable, openFakeMemory } from './cloud.ts';

test('a machine that shuts itself down is deleted', async () => {
  const clock = new VirtualClock();
  const fake = openFakeMemory({ clock });
  const machine = fake.add({});
  const seen = bootable(machine, fake);
  await clock.advance(MINUTE_MS);
  expect(seen.state(clock.now())).toBe('running');

  seen.poweredOff?.(clock.now());
  expect(seen.state(clock.now())).toBe('off');
  await clock.advance(MINUTE_MS);

  expect([seen.state(clock.now()), fake.stateOf(machine)]).toEqual(['gone', 'gone']);
});
