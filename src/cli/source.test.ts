import { expect, it } from 'vitest';
import type { Pool } from '../api/wire/pool.ts';
import type { Source, SourceSync } from '../api/wire/source.ts';
import { openScene } from './testing.ts';

const source: Source = {
  id: 'team',
  kind: 'aws',
  place: 'us-west-2:/velda/pools/',
  configured: true,
  every: '1m',
  pools: 2,
  documents: 3,
  faulty_documents: 1,
  missing_documents: 0,
  failures: 0,
  last_good_at: '2026-01-01T00:00:00.000Z',
  last_tried_at: '2026-01-01T00:01:00.000Z',
  duration: '250ms',
};
const bad = { key: 'ml/bad', team: 'ml', version: '7', read_at: '2026-01-01T00:00:00.000Z', missed: 0 };
const fault = { kind: 'invalid' as const, message: 'needs a name', place: 'line 2: name' };
const denied = { kind: 'denied', message: 'No rights.', remedy: 'Grant them.', at: '2026-01-01T00:00:00.000Z' };
const outcome = {
  documents: 3,
  read: 2,
  missing: 1,
  created: ['a'],
  changed: ['b'],
  removing: [],
  held: [],
  waiting: [],
};

it('shows a source with its last sync, how long that took, and each document with its place of trouble', async () => {
  const { muster, output } = openScene(({ path }) =>
    path.endsWith('/documents') ? { items: [{ ...bad, fault }] } : { ...source, failures: 2, fault: denied },
  );

  await muster('source', 'show', 'team');

  expect(output()).toMatch(/Place +us-west-2:\/velda\/pools\//);
  expect(output()).toMatch(/Synced +2026-01-01 00:00:00Z, in 250ms/);
  expect(output()).toMatch(/Tried +2026-01-01 00:01:00Z, 2 failures in a row/);
  expect(output()).toMatch(/Trouble +denied: No rights\. Grant them\.\n/);
  expect(output()).toMatch(/Documents +3 for 2 pools, 1 refused/);
  expect(output()).toMatch(/KEY +TEAM +VERSION +SINCE +POOL +TROUBLE/);
  expect(output()).toMatch(/ml\/bad +ml +7 +2026-01-01 00:00:00Z +- +line 2: name: needs a name/);
});

it('says of a source which backends of its pools have no prices', async () => {
  const without_prices = [
    { backend: 'gce_instance', pools: 1 },
    { backend: 'gce_instance_group', pools: 12 },
  ];
  const { muster, output } = openScene(({ path }) =>
    path.endsWith('/documents') ? { items: [] } : { ...source, without_prices },
  );
  const priced = openScene(({ path }) => (path.endsWith('/documents') ? { items: [] } : source));

  await muster('source', 'show', 'team');
  await priced.muster('source', 'show', 'team');

  expect(output()).toMatch(
    /Prices +none from gce_instance \(1 pool\), gce_instance_group \(12 pools\); set price_per_hour under backends\n/,
  );
  expect(priced.output()).not.toContain('Prices');
});

it('waits for a sync and says what came of it: what is refused, removed, held, and what waits', async () => {
  const held = { at: source.last_good_at ?? '', why: 'Half would go.', keys: ['x'] };
  const decided = {
    ...outcome,
    removing: ['r'],
    held: ['x'],
    waiting: ['v', 'w'].map((pool) => ({ pool, why: 'The next listing without its document removes it.' })),
  };
  const { muster, asked, output } = openScene(({ path }): SourceSync | object =>
    path.endsWith('/documents') ? { items: [{ ...bad, fault }] } : { ...source, held, outcome: decided },
  );

  const exit = await muster('source', 'sync', 'team');

  expect(exit).toBe(2);
  expect(asked.map(({ method, path, query }) => [method, path, query.wait ?? query.faulty])).toEqual([
    ['POST', '/sources/team/sync', 'true'],
    ['GET', '/sources/team/documents', 'true'],
  ]);
  expect(output().split('\n')).toEqual([
    'Source team was read: 3 documents, 2 new or changed, 1 missing. Created: a. Changed: b. Being removed: r.',
    'ml/bad: line 2: name: needs a name',
    'Held: x. Half would go. The pools go on as defined. `muster source approve team --pools 1` removes them.',
    'Waiting: v, w. The next listing without its document removes it.',
    '',
  ]);
});

it('ends with the fault of a source that cannot be read, and need not wait', async () => {
  const failed = { kind: 'denied', message: 'No rights.', remedy: 'Grant them.' };
  const { muster, errors } = openScene(() => ({ ...source, outcome: { ...outcome, fault: failed } }));
  const hasty = openScene(() => source);
  const fine = openScene(() => ({ ...source, faulty_documents: 0, outcome }));

  expect(await muster('source', 'sync', 'team')).toBe(3);
  expect(await hasty.muster('source', 'sync', 'team', '--no-wait')).toBe(0);
  expect(await fine.muster('source', 'sync', 'team')).toBe(0);

  expect(errors()).toBe('muster: No rights.\n  Grant them.\n');
  expect(hasty.asked.map(({ query }) => query)).toEqual([{}]);
  expect(hasty.output()).toBe('Reading source team.\n');
});

it('shows team, document and version of pools only where more is wanted', async () => {
  const pool = {
    name: 'gpu',
    phase: 'active',
    backends: [],
    workers: { total: 0, idle: 0, busy: 0, launching: 0, booting: 0 },
    sessions: { queued: 0 },
    auto_scaler: {},
    owner: { source: 'team', key: 'ml/gpu', version: '12', team: 'ml' },
  } as unknown as Pool;
  const { muster, output } = openScene(() => ({ items: [pool] }));

  await muster('pool', 'ls');
  const narrow = output();
  await muster('pool', 'ls', '-o', 'wide');

  expect(narrow).not.toContain('TEAM');
  expect(output()).toMatch(/SOURCE +TEAM +DOCUMENT +VERSION +\$\/H +TROUBLE\ngpu .* team +ml +ml\/gpu +12/);
});

it('shows each of several problems of a document in a line of its own, after a sync and with the source', async () => {
  const problems = [
    { path: 'name', line: 2, message: 'needs a name' },
    { path: 'max_agents', line: 3, column: 5, message: 'is too many' },
  ];
  const several = { kind: 'invalid' as const, message: 'two', problems };
  const { muster, output } = openScene(({ path }): SourceSync | object =>
    path.endsWith('/documents') ? { items: [{ ...bad, fault: several }] } : { ...source, outcome },
  );

  await muster('source', 'sync', 'team');
  const lines = output().split('\n');
  await muster('source', 'show', 'team');

  const rows = ['ml/bad: line 2: name: needs a name', 'ml/bad: line 3, column 5: max_agents: is too many'];
  expect(lines.slice(1, 3)).toEqual(rows);
  expect(output()).toContain('line 2: name: needs a name (and 1 more)');
  expect(output()).toContain(`\n\n${rows.join('\n')}\n`);
});
