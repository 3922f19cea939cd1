import { expect, it } from 'vitest';
import { openGate } from '#clouds/gate.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { put } from '#core/store.ts';
import { keepDroppedPools } from './dropped-pools.ts';
import { makeRegistry } from './registry.ts';
import { ALICE, fakeSource, opened, openWorld, readJsonPool, text } from './testing/world.ts';

it('removes on approval what was shown as held, and not what was dropped since', async () => {
  const first = await openWorld([opened('gone', fakeSource({ a: text('a'), b: text('b') }))]);
  await first.stop();
  const { store, clock } = first;
  const journal = { event: () => put('sources', { id: 'journal', kind: 'event' }) };
  const registry = makeRegistry({
    store,
    clock,
    journal,
    log: silentLog,
    random: seededRandom(1),
    readPool: readJsonPool,
    sources: [],
    gate: openGate({ store, clock, log: silentLog }),
  });
  const droppedPools = keepDroppedPools(registry, () => {});
  for (const pool of store.view.pools.all()) droppedPools.note(pool);
  const held = { at: 0, why: 'The source vanished.', keys: ['a'] };
  await store.commit([put('sources', { id: 'gone', kind: 'fake', held })]);

  await droppedPools.approve('gone', ALICE);

  expect([first.pool('a')?.removal, first.pool('b')?.removal]).toEqual([expect.anything(), undefined]);
});

it('holds nothing of a source whose documents come from its configuration alone, however many are taken out', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const source = Object.assign(fakeSource(Object.fromEntries(names.map((name) => [name, text(name)]))), {
    isDefinite: true as const,
  });
  const world = await openWorld([opened('details', source)]);

  for (const name of names) source.remove(name);
  await world.intervals(2);

  expect([...world.store.view.pools.all()].filter(({ removal }) => !removal)).toEqual([]);
  expect(world.events('source.held')).toEqual([]);
});
