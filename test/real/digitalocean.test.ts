import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { DropletConfig } from '../../src/providers/digitalocean/config.ts';
import { openDroplets } from '../../src/providers/digitalocean/droplet/backend.ts';
import { VPCS } from '../../src/providers/digitalocean/fake/seed-data.ts';
import simulation from '../../src/providers/digitalocean/fake/simulation.ts';
import { makeOurs, OUR_MARK, OUR_NAME, realContext } from './parts/made-by-muster.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-digitalocean.py');

test("DigitalOcean's own client makes, lists, tags and deletes droplets of the simulated one, and reads a droplet of Muster", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  context.onTestFinished(() => running.close());

  const vpcUuid = VPCS.find(({ region }) => region === 'nyc3')?.id;
  const place = { region: 'nyc3', size: 's-2vcpu-4gb', image: 'ubuntu-24-04-x64', vpcUuid, tags: ['team:ml'] };
  const access = { apiToken: 'simulated', apiEndpoint: running.address };
  const config = DropletConfig.parse({ ...place, ...access, sshKeyIds: [7] });
  await makeOurs(await openDroplets(config, realContext()));

  const ran = await run(program('python'), [DRIVE, running.address, OUR_NAME], {
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
    keys: [7, 12345678],
    vpc: [VPCS.find(({ region }) => region === 'atl1')?.id],
    image: ['ubuntu-24-04-x64'],
    // What we send means to DigitalOcean's client what we mean.
    ours: {
      tags: ['muster-cluster:cluster1', `muster-pool:${OUR_MARK.owner}`, `muster-shape:${OUR_MARK.shape}`, 'team:ml'],
      size: 's-2vcpu-4gb',
      image: 'ubuntu-24-04-x64',
      vpc: vpcUuid,
      region: 'nyc3',
    },
    badKey: [422, 'unprocessable_entity', '8 are invalid key identifiers for Droplet creation.'],
    badVpc: [422, 'unprocessable_entity', 'You specified invalid VPC parameters for Droplet creation.'],
    badImage: [422, 'unprocessable_entity', 'You specified an invalid image for Droplet creation.'],
    badField: [422, 'unprocessable_entity', 'nmae is not a known parameter.'],
    wrongToken: [401, 'unauthorized', 'Unable to authenticate you.'],
    badSize: [422, 'unprocessable_entity', 'You specified an invalid size for Droplet creation.'],
    badName: [422, 'unprocessable_entity', expect.stringContaining('Only valid hostname characters')],
    gone: 'not_found',
  });
});
