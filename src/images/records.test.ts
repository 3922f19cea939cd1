import { expect, it } from 'vitest';
import type { NewImageBuild } from '#core/image.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { makeRedactor } from '#journal/redact.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { keepImageRecords } from './records.ts';

const ACTOR = { who: 'token:ci', from: '10.0.0.7' };
const ID = 'sha256:one';

const aBuild = (over: Partial<NewImageBuild> = {}, id = ID): NewImageBuild => ({
  builder: 'docker',
  cloud: 'docker:unix:///var/run/docker.sock',
  host: 'build-7',
  version: '1.2.0',
  recipe: `recipe of ${id}`,
  startedAt: 1_000,
  endedAt: 4_000,
  outcome: 'built',
  image: { name: 'muster-agent', reference: 'muster-agent:1.2.0', ids: { '': id }, builtAt: 3_000 },
  log: '> true\ndone',
  ...over,
});

async function setUp() {
  const clock = new VirtualClock();
  const disk = emptyDisk();
  const store = await openStore(memoryDriver(disk), () => {});
  const redactor = makeRedactor(['planted-secret']);
  const means = { store, clock, random: seededRandom(1) };
  const journal = startJournal({ ...means, log: silentLog, redactor });
  const images = keepImageRecords({ ...means, journal });
  const held = () => Array.from(store.view.images.all(), ({ host, ids }) => [host, ids['']]);
  return { disk, store, images, held };
}

it('a build is kept with its output, its image and an event', async () => {
  const { images, disk, store } = await setUp();

  const { id } = await images.record(aBuild(), ACTOR);

  expect(await store.history.imageBuilds({ id }, { limit: 1, order: 'newest first' })).toMatchObject([
    { image: 'muster-agent:1.2.0', builder: 'docker', outcome: 'built', by: 'token:ci' },
  ]);
  expect(await images.logOf(id)).toBe('> true\ndone');
  expect([...store.view.images.all()]).toMatchObject([{ reference: 'muster-agent:1.2.0', build: id, by: 'token:ci' }]);
  expect(disk.histories.events).toMatchObject([{ kind: 'image.built', who: 'token:ci', subject: `image/${id}` }]);
});

it('output of any length comes back as it was, without secrets', async () => {
  const { images, disk } = await setUp();
  const log = `${'é'.repeat(100_001)}\nplanted-secret\nend`;

  const { id } = await images.record(aBuild({ log, outcome: 'failed', error: 'planted-secret failed' }), ACTOR);

  expect(await images.logOf(id)).toBe(log.replace('planted-secret', '[hidden]'));
  expect(JSON.stringify([disk.histories.imageBuilds, disk.histories.events])).not.toContain('planted');
});

it('an image that is built again replaces the record of its host, and no other host’s', async () => {
  const { images, held } = await setUp();
  await images.record(aBuild(), ACTOR);
  await images.record(aBuild({ host: 'laptop' }, 'sha256:two'), ACTOR);

  await images.record(aBuild({}, 'sha256:three'), ACTOR);

  expect(held()).toEqual([
    ['laptop', 'sha256:two'],
    ['build-7', 'sha256:three'],
  ]);
});

it('an image that is found again, by another builder or from another machine, has one record', async () => {
  const { images, held, disk } = await setUp();
  await images.record(aBuild(), ACTOR);

  await images.record(aBuild({ outcome: 'unchanged', builder: 'kubernetes' }), ACTOR);
  await images.record(aBuild({ outcome: 'unchanged', host: 'laptop' }), ACTOR);

  expect(held()).toEqual([['build-7', ID]]);
  expect(disk.histories.imageBuilds).toHaveLength(3);
  expect(disk.histories.events).toHaveLength(1);
});

it('a build that failed leaves the records of images as they are', async () => {
  const { images, held, disk } = await setUp();
  await images.record(aBuild(), ACTOR);

  await images.record(aBuild({ outcome: 'failed', image: undefined, error: 'Step 1 failed.\n  more' }), ACTOR);

  expect(held()).toEqual([['build-7', ID]]);
  expect(disk.histories.events).toMatchObject([
    {},
    { kind: 'image.failed', message: 'docker failed at version 1.2.0 on build-7: Step 1 failed.' },
  ]);
});

it('a record that is forgotten is gone, and again is a success', async () => {
  const { images, held, store, disk } = await setUp();
  await images.record(aBuild(), ACTOR);
  const [{ id = '' } = {}] = store.view.images.all();

  await images.forget(id, ACTOR);
  await images.forget(id, ACTOR);

  expect(held()).toEqual([]);
  expect(disk.histories.events.map(({ kind }) => kind)).toEqual(['image.built', 'image.forgotten']);
});
