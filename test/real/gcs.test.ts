import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Source } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { SimulatedCloud } from '#core/simulation.ts';
import { renderGcs } from '../../src/cli/export/shell.ts';
import simulation from '../../src/providers/gcp/fake/simulation.ts';
import gcp from '../../src/providers/gcp/index.ts';
import { openWorld } from '../system/harness/world.ts';
import { fakeGcsServer } from './parts/fake-gcs-server.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run, runWell } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-gcs.py');
const BUCKET = 'velda-pool-configs';

async function simulated({ onTestFinished }: TestContext): Promise<SimulatedCloud> {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  onTestFinished(() => running.close());
  return running;
}

function openSource(emulator: string | undefined): Promise<Source> {
  const { gcs } = gcp.sources;
  return gcs.open(gcs.config.parse({ bucket: BUCKET, configPrefix: 'pools/' }), {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
    variable: (name) => (name === 'STORAGE_EMULATOR_HOST' ? emulator : undefined),
  });
}

const list = (source: Source, held = new Map<string, string>()) => source.documents(held, new AbortController().signal);

test("Google's own client writes, lists, reads and deletes objects of the simulated Cloud Storage", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const { environment } = await simulated(context);
  const ran = await run(program('python'), [DRIVE], { env: { ...process.env, ...environment } as never });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    pages: [['pools/a.json', 'pools/large.json'], ['pools/team/b #1.json']],
    shown: ['pools/a.json', 'pools/large.json'],
    folders: ['pools/team/'],
    text: true,
    large: 600_000,
    newer: true,
    replaced: [404, 'notFound'],
    mustNotExist: [412, null],
    gone: null,
    noBucket: [404, 'notFound'],
  });
});

test('what pool export prints is run by a shell with gcloud, and read by the source', async (context) => {
  const world = openWorld(context);
  const { environment } = await simulated(context);
  const env = {
    ...process.env,
    ...environment,
    CLOUDSDK_CONFIG: world.path('gcloud'),
    CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
  };
  if ((await run('gcloud', ['version'], { env: env as never })).code !== 0) context.skip('needs gcloud');
  const document = { name: 'gpu', description: `it's "é" $HOME`, auto_scaler: { max_agents: 3 } };
  const exported = {
    name: 'gpu',
    team: 'ml',
    source: 'config',
    key: 'gpu',
    left_out: [],
    refused_elsewhere: [],
    document,
  };
  await runWell('sh', ['-ec', renderGcs(exported, { bucket: BUCKET })], { env: env as never });
  const listed = await runWell('gcloud', ['storage', 'ls', '-r', `gs://${BUCKET}/pools/**`], { env: env as never });
  const documents = await list(await openSource(environment.STORAGE_EMULATOR_HOST));

  expect(listed.trim().split('\n')).toEqual([`gs://${BUCKET}/pools/ml/gpu.json`, `gs://${BUCKET}/pools/my-pool.json`]);
  expect(JSON.parse(documents.find(({ key }) => key === 'pools/ml/gpu.json')?.text ?? '')).toEqual(document);
});

test('the source follows the objects of a fake-gcs-server, page after page', async (context) => {
  const address = await needed(context, await fakeGcsServer()).start(context);
  const json = { 'content-type': 'application/json' };
  const send = async (path: string, init: RequestInit): Promise<void> =>
    expect((await fetch(`${address}${path}`, init)).ok, path).toBe(true);
  const put = (name: string, body: string): Promise<void> =>
    send(`/upload/storage/v1/b/${BUCKET}/o?uploadType=media&name=${encodeURIComponent(name)}`, {
      method: 'POST',
      body,
    });
  await send('/storage/v1/b', { method: 'POST', headers: json, body: JSON.stringify({ name: BUCKET }) });
  const source = await openSource(address);
  const empty = await list(source);
  const many = Array.from({ length: 1_200 }, (_, at) => `pools/team #é/${String(at).padStart(4, '0')}.json`);
  for (const name of many) await put(name, `{"name": ${JSON.stringify(name)}}`);
  await put('pools/empty', '');
  await put('others/x', '{}');
  const all = await list(source);
  const held = new Map(all.map(({ key, version }) => [key, version]));
  await put(many[7] ?? '', 'changed');
  await send(`/storage/v1/b/${BUCKET}/o/${encodeURIComponent(many[9] ?? '')}`, { method: 'DELETE' });
  const later = await list(source, held);

  expect(empty).toEqual([]);
  expect(all.map(({ key }) => key)).toEqual(many);
  expect(all[0]?.text).toBe(`{"name": "${many[0]}"}`);
  expect(later).toHaveLength(many.length - 1);
  expect(later.filter(({ text }) => text !== undefined)).toMatchObject([{ key: many[7], text: 'changed' }]);
  await expect(list(await openSource(`${address}/nowhere`))).rejects.toMatchObject({ kind: 'missing' });
});
