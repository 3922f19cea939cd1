import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import simulation from './simulation.ts';

test('droplets of one call run their user data and find their own names, and nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(running.close);
  const { DIGITALOCEAN_API_URL: url = '', DIGITALOCEAN_API_TOKEN: token } = running.environment;
  const user_data = '#!/bin/sh\ncurl -fsS "$DIGITALOCEAN_METADATA_URL/metadata/v1/hostname" > "$MUSTER_ROOT/name"\n';
  const body = { names: ['m-one', 'm-two'], region: 'atl1', size: 'c-4', image: 'ubuntu-24-04-x64', user_data };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v2/droplets`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { droplets } = (await answer.json()) as { droplets: { id: number }[] };
  const files = droplets.map(({ id }) => join(running.folder, String(id), 'root', 'name'));
  const isWritten = (file: string): boolean => existsSync(file) && readFileSync(file, 'utf8') !== '';
  await until('both have run', async () => files.every(isWritten));

  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['m-one', 'm-two']);
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});
