import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import simulation from '../../src/providers/digitalocean/fake/simulation.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-digitalocean.py');

test("DigitalOcean's own client makes, lists, tags and deletes droplets of the simulated one", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  context.onTestFinished(() => running.close());

  const ran = await run(program('python'), [DRIVE, running.address], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    account: 'active',
    prices: expect.objectContaining({ 'gpu-mi300x1-192gb-devcloud': 1.99 }),
    regions: 6,
    made: ['ref-1', 'ref-2'],
    action: ['completed', 'create', true],
    // Listings by tag hold no GPU droplets, as the description of the API has it.
    tagged: ['ref-3'],
    gpus: ['ref-1', 'ref-2'],
    badSize: [422, 'unprocessable_entity', 'You specified an invalid size for Droplet creation.'],
    badName: [422, 'unprocessable_entity', expect.stringContaining('Only valid hostname characters')],
    gone: 'not_found',
  });
});
