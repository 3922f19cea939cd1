import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type TestContext, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { placeServer, startServer } from './harness/server.ts';
import { SOURCES } from './harness/start-place.ts';
import { openWorld } from './harness/world.ts';

const HOOK = join(import.meta.dirname, 'harness', 'record-loads.mjs');

interface Loaded {
  /** Below `src/providers`, without what every server reads: descriptors and schemas. */
  readonly providers: readonly string[];
  readonly packages: ReadonlySet<string>;
}

// What schemas and descriptors import.
const READ_BY_ALL =
  /(^|\/)(index|config)\.ts$|^(aws\/rates|docker\/marks|kubernetes\/agent-pool\/place)\.ts$|\.gen\.ts$/;

/** What a server with that file has loaded when it serves and `isThere` agrees. */
async function loadedBy(context: TestContext, config: object, isThere: (urls: string) => boolean): Promise<Loaded> {
  const world = openWorld(context);
  const place = await placeServer(world, { ...config });
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(HOOK)}`, LOADED_MODULES: world.path('loaded') };
  const server = await startServer(world, place, env, SOURCES).ready();
  const urls = await until('all is loaded', () => {
    const text = world.read('loaded');
    return isThere(text) ? text : undefined;
  });
  await server.kill();
  const all = urls.split('\n');
  const files = all.flatMap((url) => /\/src\/providers\/(.+)$/.exec(url)?.[1] ?? []);
  return {
    providers: files.filter((path) => !READ_BY_ALL.test(path)).toSorted(),
    packages: new Set(all.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])),
  };
}

test('a server without pools and sources loads nothing of a provider but descriptors and schemas', async (context) => {
  const { providers, packages } = await loadedBy(context, {}, () => true);

  expect(providers).toEqual([]);
  expect([...packages].filter((name) => /^@aws-sdk\/|^@smithy\/|^undici$|^pg$/.test(name))).toEqual([]);
  expect(packages.has('zod')).toBe(true);
});

test('a source loads what it needs itself, and nothing of other kinds', async (context) => {
  const gcs = { bucket: 'velda-pool-configs', config_prefix: 'pools/', endpoint: 'http://127.0.0.1:9' };
  const { providers, packages } = await loadedBy(context, { provisioners: [{ gcs }] }, (urls) =>
    urls.includes('gcp/storage/source.ts'),
  );

  expect(providers).toContain('gcp/storage/source.ts');
  expect(providers.filter((path) => !/^gcp\/(storage|credentials|google-)/.test(path))).toEqual([]);
  expect([...packages].filter((name) => /^@aws-sdk\//.test(name))).toEqual([]);
});
