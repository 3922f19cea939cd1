import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openScratchCheckout } from '../scratch-checkout.ts';
import { apiOf } from './harness/api.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

const NOUN = join(import.meta.dirname, 'new-noun');

/** The files of the noun, with the paths that they have in a checkout. */
const nounFiles = (): readonly (readonly [path: string, text: string])[] =>
  readdirSync(NOUN, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.txt'))
    .map((name) => [name.replace(/\.txt$/, ''), readFileSync(join(NOUN, name), 'utf8')] as const);

const GENERATED = /\.gen\.ts$|^docs\/reference\//;

test('a new noun is a file in core, api and cli and a folder of its own; nothing else changes but what is generated', async (context) => {
  const checkout = openScratchCheckout();
  context.onTestFinished(checkout.remove);
  for (const [path, text] of nounFiles()) checkout.add(path, text);

  const generated = await checkout.run('node', ['scripts/gen.ts']);
  const types = await checkout.run('tsc');
  const house = await checkout.run('vitest', ['run', '--project', 'unit', 'test/house/rules.test.ts']);

  expect(generated.err).toBe('');
  expect(types.out).toBe('');
  expect(house.code, house.out).toBe(0);
  expect(checkout.changed().filter((path) => !GENERATED.test(path))).toEqual([]);
  expect(checkout.changed()).toContain('docs/reference/cli.md');
  const read = (path: string): string => readFileSync(join(checkout.root, path), 'utf8');
  expect(read('docs/reference/configuration.md')).toContain('`notes.most_notes`');
  expect(read('docs/reference/cli.md')).toContain('## muster note write');
  expect(read('docs/reference/api.md')).toContain('### POST /api/v1/notes');

  // And it works, with every right of a noun.
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
}, 300_000);
