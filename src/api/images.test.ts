import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { keepImageRecords } from '../images/records.ts';
import { startJournal } from '../journal/journal.ts';
import { apiWorld } from './testing/world.ts';
import type { Image, ImageBuild, ImageBuildIn, ImageBuildWithLog } from './wire/image.ts';

const BUILD: ImageBuildIn = {
  builder: 'aws-ami',
  cloud: 'aws:us-west-2',
  host: 'build-7',
  version: '1.2.0',
  recipe: 'abc',
  outcome: 'built',
  image: {
    name: 'muster-agent',
    reference: 'muster-agent-1.2.0-0a1b2c3d',
    ids: { 'us-west-2': 'ami-1' },
    built_at: '2026-01-01T00:00:02.000Z',
  },
  started_at: '2026-01-01T00:00:00.000Z',
  ended_at: '2026-01-01T00:00:03.000Z',
  log: 'making the machine\nplanted-secret',
};

async function world() {
  const opened = await apiWorld();
  const { store, clock } = opened.deps;
  const means = { store, clock, random: seededRandom(2) };
  const journal = startJournal({ ...means, log: silentLog });
  Object.assign(opened.deps.features, { images: keepImageRecords({ ...means, journal }) });
  const send = (payload: object, as: 'viewer' | 'operator' = 'operator') =>
    opened.call('POST', '/api/v1/image-builds', { payload, as });
  return { ...opened, send };
}

it('a build is recorded by operators, and listed, shown with its output and found by its image', async () => {
  const { call, send } = await world();

  expect((await send(BUILD, 'viewer')).statusCode).toBe(403);
  const made = await send(BUILD);
  const { id } = made.json<ImageBuild>();
  await send({ ...BUILD, builder: 'docker', outcome: 'failed', image: undefined, error: 'No.', recipe: undefined });

  expect([made.statusCode, made.headers.location]).toEqual([201, `/api/v1/image-builds/${id}`]);
  const list = async (query = '') =>
    (await call('GET', `/api/v1/image-builds?${query}`, { as: 'viewer' })).json<{
      items: ImageBuild[];
      next?: string;
    }>();
  expect((await list()).items.map(({ builder, outcome }) => `${builder} ${outcome}`)).toEqual([
    'docker failed',
    'aws-ami built',
  ]);
  expect((await list('image=muster-agent-1.2.0-0a1b2c3d')).items).toMatchObject([{ id, by: 'token:operator' }]);
  const first = await list('limit=1');
  expect((await list(`limit=1&after=${first.next}`)).items).toMatchObject([{ id }]);
  const shown = (await call('GET', `/api/v1/image-builds/${id}`, { as: 'viewer' })).json<ImageBuildWithLog>();
  expect(shown).toMatchObject({ image: BUILD.image?.reference, log: 'making the machine\n[hidden]' });
  expect((await call('GET', '/api/v1/image-builds/none')).json()).toMatchObject({ kind: 'missing' });
});

it('its image is listed until its record is dropped', async () => {
  const { call, send } = await world();
  await send(BUILD);
  const list = async () => (await call('GET', '/api/v1/images', { as: 'viewer' })).json<{ items: Image[] }>().items;
  const [image] = await list();

  expect(image).toMatchObject({ builder: 'aws-ami', host: 'build-7', ids: { 'us-west-2': 'ami-1' } });
  expect((await call('DELETE', `/api/v1/images/${image?.id}`, { as: 'viewer' })).statusCode).toBe(403);
  expect((await call('DELETE', `/api/v1/images/${image?.id}`, { as: 'operator' })).statusCode).toBe(204);
  expect(await list()).toEqual([]);
});

it.each([
  ['an outcome that there is not', { outcome: 'done' }, 'body.outcome'],
  ['a time that is none', { ended_at: 'now' }, 'body.ended_at'],
  ['an unknown key', { token: 'x' }, 'body'],
])('refuses %s with its place', async (_what, over, at) => {
  const { send } = await world();
  const refused = await send({ ...BUILD, ...over });

  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(at)]);
});
