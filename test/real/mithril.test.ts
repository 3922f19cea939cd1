import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { nameWithMark } from '#core/mark-name.ts';
import { until } from '#core/testing/until.ts';
import { serveFake } from '#fakes/serve.ts';
import { BidConfig } from '../../src/providers/mithril/config.ts';
import { openFakeMithril } from '../../src/providers/mithril/fake/cloud.ts';
import { openSpotBids } from '../../src/providers/mithril/spot-bid/backend.ts';
import { makeOurs, OUR_MARK, OUR_NAME, realContext } from './parts/made-by-muster.ts';
import { needed } from './parts/part.ts';
import { mithrilClient } from './parts/python.ts';
import { complaintOf, run, runWell } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-mithril.py');
const OURS = nameWithMark(OUR_NAME, OUR_MARK);

/** A simulated Mithril on loopback with one bid that Muster made. */
async function openMithril(context: TestContext) {
  const fake = openFakeMithril({ clock: systemClock, bootMs: 600, lagMs: 300 });
  const served = await serveFake(fake.handle, { port: 0 });
  context.onTestFinished(() => served.close());
  const place = { projectId: 'proj_abc123', region: 'us-west-2', apiToken: 'simulated', apiEndpoint: served.address };
  const config = BidConfig.parse({ ...place, instanceType: '8xh100', limitPrice: 4.5, sshKeyIds: ['key_xyz'] });
  const backend = await openSpotBids(config, realContext());
  await makeOurs(backend);
  return { ...served, backend };
}

test("Mithril's own client makes, lists, pauses and ends bids of the simulated one, and reads a bid of Muster", async (context) => {
  const { program } = needed(context, await mithrilClient());
  const { address } = await openMithril(context);

  const ran = await run(program('python'), [DRIVE, address], { env: { ...process.env } as Record<string, string> });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    projects: ['proj_abc123'],
    keys: ['key_xyz', 'key_1'],
    types: ['1xh100', '8xa100', '8xh100'],
    // Both are of one instance and one hour.
    auction: ['$4.00'],
    price: 400,
    made: [
      ['ref-1', '$4.50', ['key_xyz']],
      ['ref-2', '$4.50', ['key_xyz']],
    ],
    listed: ['ref-1', 'ref-2', 'ref-low'],
    running: [true],
    open: 'Open',
    paused: 'Paused',
    ours: { name: OURS, limit_price: '$4.50', quantity: 1, script: '#!' },
    badKey: [422, ['body', 'launch_specification', 'ssh_keys', 0], 'SSH key key_none not found'],
    badType: [422, ['body', 'instance_type'], 'Instance type not found'],
    lowPrice: [422, ['body', 'limit_price'], 'Limit price is below the minimum price'],
    gone: 404,
    wrongToken: 401,
  });
});

test("Mithril's own command line lists and ends a bid of Muster, with its price per instance-hour", async (context) => {
  const { program } = needed(context, await mithrilClient());
  const { address, backend } = await openMithril(context);
  const home = mkdtempSync(join(tmpdir(), 'mithril-'));
  context.onTestFinished(() => rmSync(home, { recursive: true }));
  const account = { MITHRIL_API_URL: address, MITHRIL_API_KEY: 'simulated', MITHRIL_PROJECT: 'proj_abc123' };
  const env = { ...(process.env as Record<string, string>), ...account, HOME: home };
  const ml = (...words: string[]) => runWell(program('ml'), words, { env });
  const listed = async () => (await backend.list(new AbortController().signal)).length;

  await until('it runs', async () => (await ml('instance', 'list', '--json')).includes('"Allocated"'));
  const types = await ml('instance', 'list-types');
  const info = await ml('instance', 'info', OURS);
  await ml('instance', 'delete', OURS, '--yes');
  await until('it is gone', async () => (await listed()) === 0);

  // For eight GPUs: the price of the instance, not of a GPU.
  expect(types).toMatch(/8xh100 .*us-west-2 .*\$4\.00\/hr/);
  expect(info).toContain(OURS);
  expect(info).toContain('$4.50/hr');
});
