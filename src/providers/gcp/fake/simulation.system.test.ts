import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { until } from '#core/testing/until.ts';
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
    shared: openShared(),
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

test('instances of a group run their start-up script, find their own names, and nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(running.close);
  const { CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: address, GOOGLE_CLOUD_PROJECT: project } = running.environment;
  const base = `${address}projects/${project}`;
  const script = `#!/bin/sh
curl -fsS -H 'Metadata-Flavor: Google' "http://$GCE_METADATA_HOST/computeMetadata/v1/instance/name" > "$MUSTER_ROOT/name"
`;
  const instances = ['m-one', 'm-two'].map((name) => ({
    name,
    preservedState: { metadata: { 'startup-script': script } },
  }));
  const group = `${base}/zones/us-central1-a/instanceGroupManagers/velda-workers`;
  const headers = { 'content-type': 'application/json' };
  await fetch(`${group}/createInstances`, { method: 'POST', headers, body: JSON.stringify({ instances }) });
  const listed = async (): Promise<{ name: string; id?: string }[]> => {
    const answer = await fetch(`${group}/listManagedInstances`, { method: 'POST' });
    return ((await answer.json()) as { managedInstances?: { name: string; id?: string }[] }).managedInstances ?? [];
  };
  await until('both are listed', async () => (await listed()).length === 2);
  const files = (await listed()).map(({ id = '' }) => join(running.folder, id, 'root', 'name'));
  const isWritten = (file: string): boolean => existsSync(file) && readFileSync(file, 'utf8') !== '';
  await until('both have run', async () => files.every(isWritten));

  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['m-one', 'm-two']);
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});
