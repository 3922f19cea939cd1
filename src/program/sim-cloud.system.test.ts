import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { simulations } from '../providers/simulations.gen.ts';

test.each(simulations)('a simulated $id refuses a port that is in use, with a remedy', async ({ load }) => {
  const { start } = await load();
  const first = await start({ port: 0, clock: systemClock, random: systemRandom });
  const port = Number(new URL(first.address).port);

  const second = start({ port, clock: systemClock, random: systemRandom });

  await expect(second).rejects.toMatchObject({ kind: 'unavailable', remedy: 'Choose another with --port.' });
  await first.close();
});
