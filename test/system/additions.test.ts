// A provider and a noun that this tree does not have, added to a copy of it: nothing that exists may change for them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type ApiDocument, listAt, listedNouns } from '../../src/web/default/schema.ts';
import { openScratchCheckout, type ScratchCheckout } from '../scratch-checkout.ts';
import { apiOf } from './harness/api.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

/** The cloud in memory as another provider: its id, its kind, the names that it goes by. */
const renamed = (text: string): string =>
  text
    .replaceAll('memory_machine', 'moon_machine')
    .replaceAll("id: 'memory'", "id: 'moon'")
    .replaceAll('memory.internal', 'moon.internal');

/** Adds the files of a folder of `additions/` to `src`. */
function addTo(checkout: ScratchCheckout, addition: 'noun' | 'provider'): void {
  const folder = join(import.meta.dirname, 'additions', addition);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.txt'))
      checkout.add(join('src', name.replace(/\.txt$/, '')), readFileSync(join(folder, name), 'utf8'));
}

/** What differs from this tree once everything is generated. */
interface Difference {
  readonly added: readonly string[];
  readonly changed: readonly string[];
}

async function generate(checkout: ScratchCheckout): Promise<Difference> {
  const { code, err } = await checkout.run('node', ['scripts/gen.ts']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return { added: checkout.added(), changed: checkout.changed() };
}

/** Of vitest, as JSON. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

let checkout: ScratchCheckout;
let made: Difference;

beforeAll(async () => {
  checkout = openScratchCheckout();
  checkout.copyFolder('src/conformance/memory', 'src/providers/moon', renamed);
  addTo(checkout, 'provider');
  addTo(checkout, 'noun');
  made = await generate(checkout);
});
afterAll(() => checkout.remove());

const isGenerated = (path: string): boolean => /\.gen\.ts$|^docs\/reference\//.test(path);
const NOUN = ['src/api/notes.ts', 'src/cli/note.ts', 'src/core/note.ts', 'src/notes/index.ts'];

test('a new provider with kinds, fake, simulation, notices and suites changes nothing but generated lists', async () => {
  const simulated = await checkout.run('node', ['src/main.ts', 'sim', 'cloud', '--help']);
  const ofProvider = made.added.filter((path) => !NOUN.includes(path));

  expect(made.changed.filter((path) => !isGenerated(path))).toEqual([]);
  expect(made.changed).toEqual(
    expect.arrayContaining([
      'docs/reference/configuration.md',
      'docs/reference/muster.schema.json',
      'src/agent/notices.gen.ts',
      'src/providers/providers.gen.ts',
      'src/providers/simulations.gen.ts',
    ]),
  );
  expect(ofProvider.filter((path) => !path.startsWith('src/providers/moon/'))).toEqual(['src/agent/notices/moon.ts']);
  expect(ofProvider).toContain('src/providers/moon/fake/slice.test.ts');
  expect(checkout.read('src/agent/notices.gen.ts')).toContain("['moon', moonNotices]");
  expect(simulated.out).toContain('muster sim cloud moon');
});

test('a new noun is a file in core, api and cli and a folder of its own; nothing else changes but what is generated', () => {
  expect(made.added.filter((path) => NOUN.includes(path))).toEqual(NOUN);
  expect(checkout.read('docs/reference/configuration.md')).toContain('`notes.most_notes`');
  expect(checkout.read('docs/reference/cli.md')).toContain('## muster note write');
  expect(checkout.read('docs/reference/api.md')).toContain('### POST /api/v1/notes');
  expect(checkout.read('docs/reference/metrics.md')).toContain('| `muster_notes` | gauge |');
  expect([...made.added, ...made.changed].filter((path) => path.startsWith('src/web/'))).toEqual([]);
});

async function expectAllHolds(): Promise<void> {
  // One thread: several check the same files more than once. Without garbage collection it takes a third less time.
  const compiled = await checkout.run('tsc', ['--singleThreaded'], { GOGC: 'off' });
  const places = ['src/providers/moon', 'test/house'];
  const report = ['--reporter=json', '--outputFile=report.json'];
  const tested = await checkout.run('vitest', ['run', '--project', 'unit', ...places, ...report]);
  const { testResults } = JSON.parse(checkout.read('report.json')) as Report;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === 'failed').map(({ title }) => title);

  expect({ code: compiled.code, out: compiled.out }).toEqual({ code: 0, out: '' });
  // The one thing that a noun asks for by hand: its line in the map.
  expect(failed, tested.err).toEqual(['ARCHITECTURE.md names every folder of src, and no other']);
  expect(results.length).toBeGreaterThan(100);
}

// It compiles the whole tree and runs two suites: `npm run test:long`, which is part of what must hold before a change lands.
if (inject('sliceStride') === 1)
  test('with both the types fit, the rules of the house hold, and the provider passes its suites', expectAllHolds);

test('the noun works, with every right of a noun', async (context) => {
  const world = openWorld(context);
  const main = join(checkout.root, 'src/main.ts');
  const muster = (...words: string[]) =>
    checkout.run('node', [main, ...words, '--address', `http://127.0.0.1:${place.http}`, '--token', token()]);
  const place = await placeServer(world, { agent_pools: [], notes: { most_notes: 2 } });
  const token = (): string => readFileSync(join(world.dataDir, 'admin.token'), 'utf8').trim();
  const server = await startServer(world, place, {}, main).ready();
  const api = apiOf(world, place.http);

  const over = new AbortController();
  const stream = await api.request('/changes?tables=notes', { signal: over.signal });
  const written = await muster('note', 'write', 'hello');
  await api.post('/notes', { text: 'second' });
  const third = await api.post('/notes', { text: 'third' }).catch((thrown: Error) => thrown.message);
  const listed = await muster('note', 'ls');
  const metrics = await fetch(`http://127.0.0.1:${place.http}/metrics`, {
    headers: { authorization: `Bearer ${token()}` },
  }).then((reply) => reply.text());

  expect(written.out).toMatch(/^Note \w+ is written\.\n$/);
  expect(third).toContain('There are already 2 notes.');
  expect(listed.out).toMatch(/^TEXT\s+hello\s+second\s+$/);
  expect(metrics).toContain('muster_notes 2');
  let streamed = '';
  for await (const part of stream.body ?? []) {
    streamed += Buffer.from(part).toString();
    if (streamed.includes('"text":"second"')) break;
  }
  over.abort();
  const document = (await fetch(`http://127.0.0.1:${place.http}/openapi.json`, {
    headers: { authorization: `Bearer ${token()}` },
  }).then((reply) => reply.json())) as ApiDocument;
  // What the default pages of the dashboard show of it.
  const shown = listAt('notes', document);
  expect(listedNouns(document)).toContain('notes');
  expect(shown).toMatchObject({ path: '/notes', nameKey: 'id', isWhole: true });
  expect(shown?.keys.map(({ key }) => key)).toContain('text');
  expect(streamed).toContain('"table":"notes"');

  // A wrong section is refused with its place, one that the feature refuses with its reason; both change nothing.
  const wrong = world.write('wrong.yaml', 'notes:\n  most_notse: 3\n');
  const checked = await checkout.run('node', [main, 'config', 'check', wrong]);
  expect(checked.out).toContain('2:3: notes.most_notse');
  place.configure({ agent_pools: [], notes: { most_notes: 1 } });
  const [refused] = await until('the reload is refused', () =>
    server.logged('configuration refused, keeping the previous one').length > 0
      ? server.logged('configuration refused, keeping the previous one')
      : undefined,
  );
  expect(refused?.error).toContain('notes.most_notes: must be at least 2: so many notes there are');
  place.configure({ agent_pools: [], notes: { most_notes: 3 } });
  await until('the reload is applied', () => server.logged('configuration applied').length > 0);
  await api.post('/notes', { text: 'third' });
});
