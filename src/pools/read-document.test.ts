import { expect, it } from 'vitest';
import type { Problem } from '#core/problem.ts';
import { nameIn, readPoolDocument } from './read-document.ts';
import { listener } from './testing/listener.ts';
import { fakeSource, opened, openWorld, specOf, text } from './testing/world.ts';

const SOURCE = { id: 'files', trust: 'foreign' } as const;
const refused = async (problems: readonly Problem[]) =>
  (await readPoolDocument(() => ({ problems }), SOURCE, '')).fault;

it('names every problem with its place, in one sentence', async () => {
  const fault = await refused([
    { path: 'auto_scaler.max_agnets', line: 4, column: 3, message: 'Did you mean max_agents?' },
    { path: 'name', line: 1, message: 'Must not be empty.' },
    { path: '', message: 'Is too long.' },
  ]);

  expect(fault).toMatchObject({ kind: 'invalid', at: undefined, remedy: 'Correct the document.' });
  expect(fault?.problems?.map(({ path, line, column }) => [path, line, column])).toEqual([
    ['auto_scaler.max_agnets', 4, 3],
    ['name', 1, undefined],
    ['', undefined, undefined],
  ]);
  expect(fault?.message).toBe(
    'line 4, column 3: auto_scaler.max_agnets: Did you mean max_agents?; line 1: name: Must not be empty; Is too long.',
  );
});

it('leaves the place of a single problem beside its message', async () => {
  const fault = await refused([{ path: 'name', line: 1, message: 'Must not be empty.' }]);

  expect(fault).toMatchObject({ at: 'line 1: name', message: 'Must not be empty.' });
});

it('names ten problems and counts the rest', async () => {
  const fault = await refused(Array.from({ length: 25 }, (_, at) => ({ path: '', message: `Wrong ${at}.` })));

  expect(fault?.message).toContain('Wrong 8; Wrong 9; and 15 more.');
  expect(fault?.message).not.toContain('Wrong 10');
  expect(fault?.problems).toHaveLength(25);
});

it('keeps a hundred problems of a document that is wrong everywhere', async () => {
  const fault = await refused(Array.from({ length: 500 }, () => ({ path: 'a', message: 'Wrong.' })));

  expect(fault?.problems).toHaveLength(100);
});

it('names everything that the operator does not allow a source', async () => {
  const spec = specOf({ name: 'mine', kind: 'gpu', max: 9 });
  const allow = { namePrefix: 'team-', backends: ['cpu'], maxAgents: 3 };
  const { fault } = await readPoolDocument(() => ({ spec }), { ...SOURCE, allow }, '');

  expect(fault).toMatchObject({ kind: 'denied', at: undefined });
  expect(fault?.problems?.map(({ path }) => path)).toEqual(['name', 'auto_scaler.backend', 'auto_scaler.max_agents']);
});

it('names problems as the writer knows them where the source made the text, without lines of that text', async () => {
  const problems = [
    { path: 'auto_scaler.max_agents', line: 1, column: 30, message: 'Too many.' },
    { path: 'auto_scaler.backend.kubernetes.pod.image', line: 1, message: 'Is missing.' },
    { path: 'name', line: 1, message: 'Is too long.' },
  ];
  const paths = {
    'auto_scaler.max_agents': 'spec.autoscaler.maxReplicas',
    'auto_scaler.backend.kubernetes': 'spec',
    auto_scaler: 'spec.autoscaler',
  };
  const { fault } = await readPoolDocument(() => ({ problems }), { ...SOURCE, paths }, '');

  expect(fault?.problems?.map(({ path, line }) => [path, line])).toEqual([
    ['spec.autoscaler.maxReplicas', undefined],
    ['spec.pod.image', undefined],
    ['name', undefined],
  ]);
});

it('refuses windows and wait targets beyond the agents that its source may have', async () => {
  const window = { from: '08:00', to: '18:00', timezone: 'UTC' };
  const spec = {
    ...specOf({ name: 'a' }),
    schedules: [
      { ...window, maxAgents: 3 },
      { ...window, maxAgents: 4 },
    ],
    waitTarget: { p95Ms: 1, maxIdleSlots: 4 },
  };
  const { fault } = await readPoolDocument(() => ({ spec }), { ...SOURCE, allow: { maxAgents: 3 } }, '');

  expect(fault?.kind).toBe('denied');
  expect(fault?.problems?.map(({ path }) => path)).toEqual([
    'auto_scaler.schedules[1].max_agents',
    'auto_scaler.wait_target.max_idle_agents',
  ]);
});

it('keeps with a source what its prices count for budgets, and follows what the operator allows', async () => {
  const source = fakeSource({ a: text('a') });
  const prices = () => world.store.view.sources.get('files')?.prices;
  const world = await openWorld([opened('files', source, { trust: 'foreign' })]);
  expect(prices()).toBeUndefined();

  world.pools.setSources([opened('files', source, { trust: 'foreign', allow: { prices: true } })]);
  expect(prices()).toBe('where the cloud has none');

  world.pools.setSources([opened('files', source, { trust: 'operator', allow: { prices: true } })]);
  expect(prices()).toBe('stated');
});

it('keeps all problems of a stored document, without secrets, and reports them to its writer', async () => {
  const problems = [
    { path: 'a', line: 1, message: 'Not planted-secret.' },
    { path: 'b', line: 2, message: 'Wrong.' },
  ];
  const source = listener({ a: '' });
  const world = await openWorld([opened('files', source)], {
    readPool: () => ({ problems }),
    redact: (shown) => shown.replaceAll('planted-secret', '[hidden]'),
  });

  const kept = [{ path: 'a', line: 1, message: 'Not [hidden].' }, problems[1]];
  expect(world.document('files', 'a')?.fault?.problems).toEqual(kept);
  expect(source.heard).toMatchObject([{ phase: 'refused', fault: { problems: kept } }]);
});

it('logs the warnings of a document once for each version', async () => {
  const source = fakeSource({ a: text('a') });
  const readPool = () => ({
    spec: specOf({ name: 'a' }),
    warnings: [{ path: 'x', line: 2, message: 'has no effect' }],
  });
  const world = await openWorld([opened('files', source)], { readPool });
  await world.stop();

  const again = await openWorld([opened('files', source)], { ...world, readPool });
  source.put('a', text('a'));
  await again.list('files');

  const warned = [...world.lines, ...again.lines].filter(({ message }) => message === 'document has warnings');
  expect(warned.map(({ fields }) => fields)).toMatchObject([
    { provisioner: 'files', document: 'a', version: 'v1', warnings: ['line 2: x: has no effect'] },
    { version: 'v2' },
  ]);
});

it('takes secrets out of what a reader or a source says of its failure', async () => {
  const source = fakeSource({ a: 'planted-secret' });
  const world = await openWorld([opened('files', source)], {
    readPool: (content) => ({ problems: [{ path: '', message: `Cannot read ${content}.` }] }),
    redact: (shown) => shown.replaceAll('planted-secret', '[hidden]'),
  });

  expect(world.document('files', 'a')?.fault?.message).toBe('Cannot read [hidden].');
  expect(JSON.stringify([world.events(), world.lines])).not.toContain('planted-secret');
});

it('guesses the name in a text of very many keys without comparing each with each', () => {
  const keys = Array.from({ length: 50_000 }, (_, at) => at.toString(36));

  expect(nameIn(`{name: a,${keys.join(',')}}`)).toBe('a');
});

it('guesses no name in a text that no reader would finish', () => {
  expect(nameIn('{'.repeat(5_000))).toBeUndefined();
  expect(nameIn(`name: ${'['.repeat(5_000)}`)).toBeUndefined();
  expect(nameIn('name: *a')).toBeUndefined();
});

it('guesses the name that a text gives its pool, but not of a text that takes long', () => {
  expect(nameIn('name: a\nwrong: [')).toBe('a');
  expect(nameIn('{"name": "a", "wrong": 1}')).toBe('a');
  expect(nameIn('name: 3')).toBeUndefined();
  expect(nameIn(`name: a\ndescription: ${'x'.repeat(300_000)}`)).toBeUndefined();
});
