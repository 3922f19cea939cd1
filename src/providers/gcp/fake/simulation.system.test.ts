import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import gcp from '../index.ts';
import simulation from './simulation.ts';

test('its variables lead the source to a bucket with a pool, and to what is written there', async ({
  onTestFinished,
}) => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(running.close);
  const { gcs } = gcp.sources;
  const source = await gcs.open(gcs.config.parse({ bucket: 'velda-pool-configs', configPrefix: 'pools/' }), {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    dataDir: '/nowhere',
    agentCommand: [],
    variable: (name) => running.environment[name],
  });
  const list = () => source.documents(new Map(), new AbortController().signal);
  const before = await list();
  const upload = '/upload/storage/v1/b/velda-pool-configs/o?uploadType=media&name=pools%2Fanother.json';
  await fetch(`${running.address}${upload}`, { method: 'POST', body: '{"name": "another"}' });

  expect(before.map(({ key }) => key)).toEqual(['pools/my-pool.json']);
  expect((await list()).map(({ key, text }) => [key, text])).toContainEqual([
    'pools/another.json',
    '{"name": "another"}',
  ]);
});
