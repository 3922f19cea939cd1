import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { fakeSource, opened, openWorld, text, type World } from '../pools/testing/world.ts';
import { OfferingsConfig } from '../providers/aws/offerings/config.ts';
import { openOfferings } from '../providers/aws/offerings/source.ts';
import { openScene, REGION } from '../providers/aws/testing.ts';

type Scene = ReturnType<typeof openScene>;

const namesIn = (world: World): string[] => [...world.store.view.pools.all()].map(({ name }) => name).toSorted();

/** A source of what a simulated AWS offers, as a new process opens it; its offer is the operator's to change. */
async function typesOf(scene: Scene, prefixes: readonly string[]) {
  const config = OfferingsConfig.parse({ template: { region: REGION }, instanceTypePrefixes: prefixes });
  return opened('types', await openOfferings(config, scene.contextFor('cluster1')));
}

function offer(scene: Scene, types: readonly string[]): void {
  const { offerings } = scene.fake.region(REGION);
  offerings.clear();
  for (const type of types) offerings.set(type, [`${REGION}a`]);
}

/** Reads the source so often that what is missing counts as gone. */
async function readAgain(scene: Scene, world: World): Promise<void> {
  for (let listing = 0; listing < 3; listing++) await scene.during(world.pools.synced('types', going()));
}

/** A world in which these types are offered, and read. */
async function offering(types: readonly string[], prefixes: readonly string[]) {
  const scene = openScene();
  offer(scene, types);
  const world = await openWorld([await typesOf(scene, prefixes)], { clock: scene.clock });
  await readAgain(scene, world);
  return { scene, world };
}

it.each(['restart', 'takeover'])(
  'a prefix that was read literally never means its generation after a %s',
  async (how) => {
    const { world: first } = await offering(['p3.2xlarge', 'p3dn.24xlarge'], ['p3.']);
    expect(namesIn(first)).toEqual(['p3.2xlarge']);
    // A holder that is replaced neither stops nor writes any more: its clock stands still.
    if (how === 'restart') await first.stop();

    const scene = openScene();
    offer(scene, ['p3dn.24xlarge']);
    const second = await openWorld([await typesOf(scene, ['p3.'])], { disk: first.disk, clock: scene.clock });
    await readAgain(scene, second);

    expect(namesIn(second)).not.toContain('p3dn.24xlarge');
    expect(second.source('types')?.decided).toEqual({ 'p3.': 'literal' });
  },
);

it('a prefix that was read as a generation keeps all of that when a type begins with it', async () => {
  const { scene, world } = await offering(['p4d.24xlarge', 'p4de.24xlarge'], ['p4.']);

  offer(scene, ['p4d.24xlarge', 'p4de.24xlarge', 'p4.large']);
  await readAgain(scene, world);

  expect(namesIn(world)).toEqual(['p4.large', 'p4d.24xlarge', 'p4de.24xlarge']);
  expect(world.eventKinds()).not.toContain('pool.removing');
});

it('an empty offer decides nothing, nor does one that has no type of the prefix', async () => {
  const { scene, world } = await offering([], ['p3.']);
  offer(scene, ['g5.xlarge']);
  await readAgain(scene, world);
  expect(world.source('types')?.decided).toBeUndefined();

  offer(scene, ['g5.xlarge', 'p3.2xlarge', 'p3dn.24xlarge']);
  await readAgain(scene, world);

  expect(namesIn(world)).toEqual(['p3.2xlarge']);
});

it('an edit of the prefix decides anew, and a prefix that was taken out is forgotten', async () => {
  const { scene, world } = await offering(['p3.2xlarge', 'p3dn.24xlarge'], ['p3.', 'g5.']);
  offer(scene, ['p3dn.24xlarge', 'g5.xlarge']);
  world.pools.setSources([await typesOf(scene, ['g5.'])]);
  await readAgain(scene, world);
  expect(world.source('types')?.decided).toEqual({ 'g5.': 'literal' });

  world.pools.setSources([await typesOf(scene, ['p3.', 'g5.'])]);
  await readAgain(scene, world);

  expect(world.source('types')?.decided).toEqual({ 'p3.': 'generation', 'g5.': 'literal' });
});

it('a store of an older version, which kept no decision, has it from the pools that it made', async () => {
  const before = await openWorld([opened('types', fakeSource({ 'p3.2xlarge': text('p3.2xlarge') }))]);
  await before.stop();
  const scene = openScene();
  offer(scene, ['p3dn.24xlarge', 'p4d.24xlarge']);

  const after = await openWorld([await typesOf(scene, ['p3.', 'p4.'])], { disk: before.disk, clock: scene.clock });
  await readAgain(scene, after);

  expect(namesIn(after)).not.toContain('p3dn.24xlarge');
  expect(after.source('types')?.decided).toEqual({ 'p3.': 'literal', 'p4.': 'generation' });
});

it('a dry run of a sync decides nothing', async () => {
  const { scene, world } = await offering(['g5.xlarge'], ['p3.']);
  offer(scene, ['p3dn.24xlarge']);

  const planned = await scene.during(world.pools.foreseeSync('types', going()));

  expect(planned.pools.map(({ name }) => name)).toEqual(['p3dn.24xlarge']);
  expect(world.source('types')?.decided).toBeUndefined();
});
