// Random worlds: whatever is moved, broken, cut off or restarted, no defined pool is removed, and all settles in the end.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { emptyDisk } from '#store/memory.ts';
import { type FakeSource, fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

const SOURCES = ['A', 'B', 'C'] as const;
const BAD = 'bad';

const spot = { source: fc.constantFrom(...SOURCES), key: fc.constantFrom('k0', 'k1', 'k2') };
const name = fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4');
const step = fc.oneof(
  fc.record({ do: fc.constant('put' as const), ...spot, name, max: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ do: fc.constant('spoil' as const), ...spot }),
  fc.record({ do: fc.constant('remove' as const), ...spot }),
  fc.record({ do: fc.constant('move' as const), ...spot, to: fc.record(spot) }),
  fc.record({ do: fc.constant('cut' as const), source: spot.source, isAway: fc.boolean() }),
  fc.record({ do: fc.constant('configure' as const), source: spot.source, isThere: fc.boolean() }),
  fc.record({ do: fc.constant('hint' as const), source: spot.source }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 30_000, 70_000, 200_000) }),
  fc.record({ do: fc.constant('restart' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The documents as their writers know them, whether or not anyone can read them. */
function makeUniverse() {
  const sources = new Map<string, FakeSource>(SOURCES.map((id) => [id, fakeSource()]));
  const texts = new Map<string, string>();
  const configured = new Set<string>(SOURCES);
  const disk = emptyDisk();
  let world: World;

  const source = (id: string): FakeSource => sources.get(id) as FakeSource;
  const openedSources = () => SOURCES.filter((id) => configured.has(id)).map((id) => opened(id, source(id)));
  const configure = (): void => world.pools.setSources(openedSources());

  function write(id: string, key: string, content: string | undefined): void {
    if (content === undefined) {
      texts.delete(`${id}/${key}`);
      source(id).remove(key);
      return;
    }
    texts.set(`${id}/${key}`, content);
    source(id).put(key, content);
  }

  async function restart(): Promise<void> {
    const clock = world?.clock;
    await world?.stop();
    world = await openWorld(openedSources(), clock ? { disk, clock } : { disk });
  }

  async function take(act: Step): Promise<void> {
    switch (act.do) {
      case 'put':
        return write(act.source, act.key, text({ name: act.name, max: act.max }));
      case 'spoil':
        return write(act.source, act.key, BAD);
      case 'remove':
        return write(act.source, act.key, undefined);
      case 'move': {
        const content = texts.get(`${act.source}/${act.key}`);
        write(act.source, act.key, undefined);
        return write(act.to.source, act.to.key, content);
      }
      case 'cut':
        source(act.source).fault = act.isAway ? outage() : undefined;
        return;
      case 'configure':
        if (act.isThere) configured.add(act.source);
        else configured.delete(act.source);
        return configure();
      case 'hint':
        return source(act.source).hint();
      case 'wait':
        return world.clock.advance(act.ms);
      case 'restart':
        return restart();
    }
  }

  return {
    texts,
    take,
    restart,
    world: () => world,
    /** The names that a document of a configured source defines, read or not, and those that are held with their source. */
    defined(): Set<string> {
      const good = [...texts].filter(([at, content]) => content !== BAD && configured.has(at.slice(0, 1)));
      const held = [...world.store.view.pools.all()].filter(({ owner }) => !configured.has(owner.source));
      return new Set([...good.map(([, content]) => JSON.parse(content).name), ...held.map(({ name }) => name)]);
    },
    async calmDown() {
      for (const id of SOURCES) {
        source(id).fault = undefined;
        configured.add(id);
      }
      configure();
      await world.intervals(8);
    },
  };
}
type Universe = ReturnType<typeof makeUniverse>;

/** Watches the names that were defined ever since their pool was made: these pools must stay, under the same ids. */
function watchDefined(universe: Universe) {
  const ids = new Map<string, string>();
  return () => {
    const world = universe.world();
    const defined = universe.defined();
    for (const name of [...ids.keys()].filter((name) => !defined.has(name))) ids.delete(name);
    const shown = [...ids.keys()].map((name) => [name, world.pool(name)?.id, world.pool(name)?.removal]);
    expect(shown).toEqual([...ids].map(([name, id]) => [name, id, undefined]));
    for (const { id, name, removal } of world.store.view.pools.all()) {
      if (defined.has(name) && !removal) ids.set(name, id);
    }
  };
}

function expectSettled({ world, texts, defined }: Universe): void {
  const { view } = world().store;
  const held = new Set([...view.sources.all()].flatMap((row) => row.held?.keys.map((key) => `${row.id}/${key}`) ?? []));
  const mayOwn = (pool: string, at: string): boolean => {
    const content = texts.get(at);
    return held.has(at) || content === BAD || (content !== undefined && JSON.parse(content).name === pool);
  };

  const names = [...view.pools.all()].filter(({ removal }) => !removal).map(({ name }) => name);
  const strays = [...view.pools.all()].filter(({ name, owner }) => !mayOwn(name, `${owner.source}/${owner.key}`));
  const rows = [...view.documents.all()].map((row) => `${row.source}/${row.key}`);

  expect(names).toEqual(expect.arrayContaining([...defined()]));
  expect(strays).toEqual([]);
  expect(rows.filter((at) => !texts.has(at) && !held.has(at))).toEqual([]);
  expect(rows).toEqual(expect.arrayContaining([...texts.keys()]));
}

// Each of these once went wrong.
const FOUND: readonly (readonly Step[])[] = [
  [
    { do: 'put', source: 'C', key: 'k0', name: 'n0', max: 0 },
    { do: 'restart' },
    { do: 'move', source: 'C', key: 'k0', to: { source: 'A', key: 'k0' } },
    { do: 'hint', source: 'C' },
    { do: 'put', source: 'C', key: 'k0', name: 'n3', max: 0 },
  ],
  [
    { do: 'put', source: 'A', key: 'k2', name: 'n0', max: 0 },
    { do: 'restart' },
    { do: 'put', source: 'A', key: 'k2', name: 'n2', max: 0 },
    { do: 'restart' },
    { do: 'move', source: 'A', key: 'k2', to: { source: 'A', key: 'k0' } },
  ],
  [
    { do: 'put', source: 'C', key: 'k1', name: 'n0', max: 0 },
    { do: 'hint', source: 'C' },
    { do: 'put', source: 'C', key: 'k1', name: 'n4', max: 0 },
    { do: 'wait', ms: 70_000 },
    { do: 'remove', source: 'C', key: 'k1' },
  ],
  [
    { do: 'put', source: 'B', key: 'k1', name: 'n0', max: 0 },
    { do: 'restart' },
    { do: 'put', source: 'B', key: 'k1', name: 'n3', max: 0 },
    { do: 'restart' },
    { do: 'spoil', source: 'B', key: 'k1' },
    { do: 'restart' },
    { do: 'remove', source: 'B', key: 'k1' },
  ],
  [
    { do: 'put', source: 'C', key: 'k2', name: 'n4', max: 0 },
    { do: 'hint', source: 'C' },
    { do: 'remove', source: 'C', key: 'k2' },
    { do: 'cut', source: 'A', isAway: true },
    { do: 'wait', ms: 200_000 },
    { do: 'put', source: 'C', key: 'k0', name: 'n4', max: 0 },
  ],
];

it('never removes a pool that some document defines all the while, and settles when the world is quiet', async () => {
  const run = async (steps: readonly Step[]): Promise<void> => {
    const universe = makeUniverse();
    await universe.restart();
    const check = watchDefined(universe);

    for (const act of steps) {
      await universe.take(act);
      await universe.world().clock.settle();
      check();
    }
    await universe.calmDown();

    check();
    expectSettled(universe);
    await universe.world().stop();
  };

  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), run), {
    seed: 1,
    numRuns: 100,
    examples: FOUND.map((steps): [Step[]] => [[...steps]]),
  });
});
