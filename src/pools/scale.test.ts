import { expect, it } from 'vitest';
import { fakeSource, opened, openWorld, text } from './testing/world.ts';

const MANY = 10_000;
const many = () => Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`pools/p${n}`, text(`p${n}`)]));

it('applies 9,999 of 10,000 documents where one is bad, and names that one', async () => {
  const source = fakeSource({ ...many(), 'pools/p4711': '{ bad' });

  const world = await openWorld([opened('ssm', source)]);

  expect(world.store.view.pools.size).toBe(MANY - 1);
  expect([...world.store.view.documents.all()].filter(({ fault }) => fault).map(({ key }) => key)).toEqual([
    'pools/p4711',
  ]);
});

it('leaves 9,999 pools untouched when one document of 10,000 goes bad, and reads no other', async () => {
  const source = fakeSource(many());
  const world = await openWorld([opened('ssm', source)]);
  const { textsSent } = source;
  const changed: string[] = [];
  world.store.onChange('pools', (_after, _before, id) => void changed.push(id));

  source.put('pools/p4711', '{ bad');
  await world.list('ssm');

  expect(changed).toEqual([]);
  expect(source.textsSent).toBe(textsSent + 1);
  expect(world.pool('p4711')).toMatchObject({ revision: 1 });
  expect(world.document('ssm', 'pools/p4711')?.fault?.place).toBe('line 3, column 7');
});

it('changes the one pool of 10,000 whose document changed', async () => {
  const source = fakeSource(many());
  const world = await openWorld([opened('ssm', source)]);
  const changed: string[] = [];
  world.store.onChange('pools', (after) => void changed.push(after?.name ?? ''));

  source.put('pools/p1', text({ name: 'p1', max: 6 }));
  await world.list('ssm');

  expect(changed).toEqual(['p1']);
});

it('reports 10,000 documents that all want one name', async () => {
  const same = Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`k${n}`, text('same')]));

  const world = await openWorld([opened('ssm', fakeSource(same))]);

  expect(world.store.view.pools.size).toBe(1);
  expect([...world.store.view.documents.all()].every(({ fault }) => fault?.kind === 'conflict')).toBe(true);
});
