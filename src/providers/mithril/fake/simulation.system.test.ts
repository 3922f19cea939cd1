import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import simulation from './simulation.ts';

test('the instance of a bid runs its start-up script, and nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  const { MITHRIL_API_URL: url = '', MITHRIL_API_TOKEN: token } = running.environment;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const launch_specification = { volumes: [], ssh_keys: [], startup_script: '#!/bin/sh\ntouch "$MUSTER_ROOT/ran"\n' };
  const bid = {
    project: 'proj_abc123',
    region: 'us-west-2',
    instance_type: 'it_8xh1001',
    name: 'one',
    limit_price: '$4.50',
  };
  const body = JSON.stringify({ ...bid, instance_quantity: 1, launch_specification });
  const answer = await fetch(`${url}/v2/spot/bids`, { method: 'POST', headers, body });
  const { fid } = (await answer.json()) as { fid: string };
  await until('it has run', async () => existsSync(join(running.folder, fid, 'root', 'ran')));

  expect(answer.status).toBe(201);
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});
