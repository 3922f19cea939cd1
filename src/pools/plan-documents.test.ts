import { describe, expect, it } from 'vitest';
import type { ChangePlan } from './planned-changes.ts';
import { ALICE, fakeSource, opened, openWorld, outage, text } from './testing/world.ts';

const summary = ({ pools }: ChangePlan): string[] => pools.map(({ name, change }) => `${change} ${name}`);
const refused = ({ refused }: ChangePlan): string[] => refused.map(({ key, fault }) => `${key} ${fault.kind}`);
const draft = (key: string, pool: Parameters<typeof text>[0]) => ({ key, text: text(pool) });
const signal = new AbortController().signal;

describe('documents that are not applied', () => {
  it('are compared with the pools that they name, and nothing is applied', async () => {
    const world = await openWorld([opened('files', fakeSource({ a: text({ name: 'a', max: 1 }), b: text('b') }))]);
    const before = world.writes;

    const planned = await world.pools.foresee(
      [draft('a.json', { name: 'a', max: 7 }), draft('b.json', 'b'), draft('c.json', 'c')],
      undefined,
    );

    expect(summary(planned)).toEqual(['change a', 'create c']);
    expect(planned.unchanged).toEqual(['b']);
    expect(planned.pools[0]).toMatchObject({ before: { spec: { scaling: { maxAgents: 1 } } } });
    expect(planned.pools[0]?.after).toMatchObject({ spec: { scaling: { maxAgents: 7 } }, owner: { source: 'files' } });
    expect(planned.pools[1]?.after.owner).toMatchObject({ source: 'api', key: 'c' });
    expect(world.writes).toBe(before);
    expect(world.pool('c')).toBeUndefined();
  });

  it('are read by the rules of the source that they would lie in', async () => {
    const allow = { maxAgents: 5, namePrefix: 'team-' };
    const world = await openWorld([
      opened('mine', fakeSource({ o: text({ name: 'o', kind: 'command' }) }), { trust: 'operator' }),
      opened('theirs', fakeSource({ t: text('team-t') }), { allow }),
    ]);
    const command = { kind: 'command' };

    const planned = await world.pools.foresee(
      [
        draft('o', { name: 'o', max: 2, ...command }),
        draft('t', { name: 'team-t', max: 9 }),
        draft('n', { name: 'n', ...command }),
      ],
      undefined,
    );

    expect(summary(planned)).toEqual(['change o']);
    expect(refused(planned)).toEqual(['t denied', 'n invalid']);
    expect(planned.refused[0]).toMatchObject({ pool: 'team-t', fault: { at: 'auto_scaler.max_agents' } });
  });

  it('are refused under the names that their files have, and no other document is', async () => {
    const world = await openWorld([opened('files', fakeSource({ a: text('a'), bad: '{' }))]);

    const planned = await world.pools.foresee(
      [draft('mine/a.json', { name: 'a', max: 3 }), { key: 'mine/b.json', text: '{' }, draft('c.json', '')],
      undefined,
    );

    expect(summary(planned)).toEqual(['change a']);
    expect(refused(planned)).toEqual(['mine/b.json invalid', 'c.json invalid']);
  });

  it('name one pool twice: the second is refused', async () => {
    const world = await openWorld([]);

    const planned = await world.pools.foresee([draft('one', 'a'), draft('two', { name: 'a', max: 2 })], undefined);

    expect(summary(planned)).toEqual(['create a']);
    expect(refused(planned)).toHaveLength(1);
    expect(planned.refused[0]?.fault.message).toMatch(/this second definition changes nothing\.$/);
    expect(planned.refused[0]?.fault.remedy).toBe('Remove or rename one of the two.');
  });

  it('bring a pool back that is being removed', async () => {
    const world = await openWorld([]);
    await world.pools.define(text({ name: 'a', max: 1 }), {}, ALICE);
    await world.store.commit([
      { table: 'sessions', id: 's', row: { id: 's', pool: world.pool('a')?.id } as never } as never,
    ]);
    await world.pools.remove('a', {}, ALICE);

    expect(summary(await world.pools.foresee([draft('a', 'a')], undefined))).toEqual(['restore a']);
  });
});

describe('documents as all that a source holds', () => {
  const four = { a: text('a'), b: text('b'), c: text('c'), d: text('d') };

  it('remove the pools that they lack, unless too many are lacking', async () => {
    const world = await openWorld([opened('files', fakeSource(four))]);
    const files = (...names: string[]) => names.map((name) => draft(`${name}.yaml`, name));

    const one = await world.pools.foresee(files('a', 'b', 'c'), 'files');
    const three = await world.pools.foresee(files('d'), 'files');

    expect(summary(one)).toEqual(['remove d']);
    expect(one.pools[0]?.after.removal).toBeDefined();
    expect(summary(three)).toEqual(['hold a', 'hold b', 'hold c']);
    expect(three.pools[0]?.why).toContain('lack 3 of the 4 pools');
    expect(world.pool('d')?.removal).toBeUndefined();
  });

  it('move a pool that another source defines too', async () => {
    const world = await openWorld([
      opened('one', fakeSource({ a: text('a'), b: text('b') })),
      opened('two', fakeSource({ x: text('a') })),
    ]);

    const planned = await world.pools.foresee([draft('b', 'b')], 'one');

    expect(summary(planned)).toEqual(['move a']);
    expect(planned.pools[0]?.why).toMatch(/from source "one".*to source "two"/);
  });

  it('keep the pool of a document that is refused, found by its name or by that of its file', async () => {
    const world = await openWorld([
      opened('files', fakeSource({ 'team/a.json': text('a'), 'b.json': text({ name: 'b', kind: 'process' }) }), {
        allow: { backends: ['process'] },
      }),
    ]);

    const planned = await world.pools.foresee(
      [
        { key: 'pools/a.json', text: '{' },
        { key: 'other.json', text: text({ name: 'b', kind: 'cloud' }) },
      ],
      'files',
    );

    expect(summary(planned)).toEqual([]);
    expect(planned.unchanged).toEqual([]);
    expect(planned.refused).toMatchObject([
      { pool: 'a', fault: { at: 'line 3, column 7' } },
      { pool: 'b', fault: { kind: 'denied' } },
    ]);
  });

  it('are refused for a source that is not configured', async () => {
    const world = await openWorld([]);

    await expect(world.pools.foresee([], 'none')).rejects.toMatchObject({ kind: 'missing' });
    await expect(world.pools.foreseeSync('none', signal)).rejects.toMatchObject({ kind: 'missing' });
    await expect(world.pools.foreseeSync('api', signal)).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('a source that is read without being applied', () => {
  it('tells what its next syncs will do, and it is just that', async () => {
    const source = fakeSource({ a: text('a'), b: text('b'), c: text('c') });
    const world = await openWorld([opened('files', source)]);
    source.put('a', text({ name: 'a', max: 9 }));
    source.put('n', text('n'));
    source.put('bad', '{');
    source.remove('c');

    const planned = await world.pools.foreseeSync('files', signal);
    const untouched = [world.pool('a')?.spec.scaling.maxAgents, world.pool('n'), world.document('files', 'bad')];
    const kinds = world.eventKinds();
    await world.intervals(3);

    expect(untouched).toEqual([1, undefined, undefined]);
    expect(kinds.filter((kind) => kind !== 'pool.created')).toEqual([]);
    expect(summary(planned)).toEqual(['change a', 'remove c', 'create n']);
    expect(refused(planned)).toEqual(['bad invalid']);
    expect([world.pool('a')?.spec.scaling.maxAgents, world.pool('n')?.name, world.pool('c')]).toEqual([
      9,
      'n',
      undefined,
    ]);
  });

  it('has no changes where nothing has changed', async () => {
    const world = await openWorld([opened('files', fakeSource({ a: text('a'), bad: '{' }))]);

    const planned = await world.pools.foreseeSync('files', signal);

    expect(planned).toMatchObject({ pools: [], unchanged: ['a'] });
  });

  it('says why it cannot be read', async () => {
    const source = fakeSource({ a: text('a') });
    const world = await openWorld([opened('files', source)]);
    source.fault = outage();

    await expect(world.pools.foreseeSync('files', signal)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
