// A history is one entry: what is declared here alone gets its table, its queries, its retention and its backups.
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { append, type Change, HISTORIES, type Page, type Store } from '#core/store.ts';
import { type Piece, pieces, type QueriesOf, type Row, records } from '#core/table.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { retentionFields } from '../config/server-fields.ts';
import { startRetention } from '../journal/retention.ts';
import { restore } from './copies.ts';
import { emptyDisk, memoryDriver } from './memory.ts';
import { openStore } from './store.ts';
import { openHeld, scratchFolder } from './testing/databases.ts';
import { type SharedPostgres, sharedPostgres } from './testing/postgres.ts';

interface Build extends Row {
  readonly image: string;
  readonly recipe?: string;
  readonly at: number;
  readonly steps: readonly string[];
}

interface BuildLine extends Piece {
  readonly build: string;
  readonly stream: 'stdout' | 'stderr';
}

const WITH_BUILDS = {
  ...HISTORIES,
  builds: records<Build>()({
    finds: { image: (b) => b.image, recipe: (b) => b.recipe },
    at: (b) => b.at,
    kept: { setting: 'builds', default: '2d', about: 'How long builds are kept.' },
  }),
  build_log: pieces<BuildLine>()({
    of: 'build',
    numbers: [],
    texts: ['stream'],
    kept: { setting: 'build_log', default: '1d', about: 'How long the logs of builds are kept.' },
  }),
} as const;

type Queries = QueriesOf<typeof WITH_BUILDS>;

const OLDEST: Page = { limit: 100, order: 'oldest first' };
const added = (name: 'builds' | 'build_log', row: Build | BuildLine): Change => append(name as never, row as never);
const asked = ({ history }: Store): Queries => history as unknown as Queries;
const build = (id: string, at: number, more: Partial<Build> = {}): Build => ({
  id,
  at,
  image: 'ubuntu',
  steps: ['apt update'],
  ...more,
});
const line = (seq: number, at: number): BuildLine => ({
  build: 'b1',
  seq,
  at,
  stream: 'stderr',
  data: new Uint8Array([0, seq, 255]),
});

let postgres: SharedPostgres;
let folder: ReturnType<typeof scratchFolder>;
beforeAll(async () => {
  postgres = await sharedPostgres();
});
beforeEach(() => {
  folder = scratchFolder();
});
afterEach(() => folder.remove());

const places = {
  SQLite: async (name: string) => join(folder.path, name),
  PostgreSQL: () => postgres.database(),
};
const ways = Object.entries(places).flatMap(([from, a]) =>
  Object.entries(places).map(([to, b]) => [from, to, a, b] as const),
);
const held = (url: string): Promise<Store> => openHeld(url, undefined, WITH_BUILDS);

async function filled(store: Store, at = 1): Promise<void> {
  await store.commit([
    added('builds', build('b1', at, { recipe: 'r1' })),
    added('builds', build('b2', at + 1)),
    added('builds', build('b3', at + 2, { image: 'debian' })),
    ...[1, 2, 3].map((seq) => added('build_log', line(seq, at))),
  ]);
}

async function expectFilled(store: Store): Promise<void> {
  const { builds, build_log } = asked(store);
  expect(await builds({}, OLDEST)).toEqual([
    build('b1', 1, { recipe: 'r1' }),
    build('b2', 2),
    build('b3', 3, { image: 'debian' }),
  ]);
  expect((await builds({ image: 'ubuntu' }, { ...OLDEST, limit: 1 })).map(({ id }) => id)).toEqual(['b1']);
  expect((await builds({ image: 'ubuntu' }, { ...OLDEST, after: 'b1' })).map(({ id }) => id)).toEqual(['b2']);
  expect((await builds({ recipe: 'r1', image: 'ubuntu' }, OLDEST)).map(({ id }) => id)).toEqual(['b1']);
  const page = await build_log({ build: 'b1', afterSeq: 1 }, 1);
  expect(page.map(({ data, ...rest }) => ({ ...rest, data: [...data] }))).toEqual([
    { build: 'b1', seq: 2, at: 1, stream: 'stderr', data: [0, 2, 255] },
  ]);
  expect((await build_log({ build: 'b1', afterSeq: 2 }, 10)).map(({ seq }) => seq)).toEqual([3]);
}

test.each(ways)(
  'on %s it is appended, asked for by its key in pages, and backed up to %s',
  async (_from, _to, from, to) => {
    const [source, target] = [await from('source'), await to('target')];
    // Without it first: the table is also made in a database that is there already.
    await (await openHeld(source)).close();
    const store = await held(source);
    await filled(store);
    await filled(store);
    await expectFilled(store);

    await store.backup(join(folder.path, 'backup.db'));
    await store.close();
    await restore(join(folder.path, 'backup.db'), target, {
      log: silentLog,
      clock: systemClock,
      histories: WITH_BUILDS,
    });

    const restored = await held(target);
    await expectFilled(restored);
    await restored.close();
  },
);

test('in memory it is asked alike', async () => {
  const store = await openStore(memoryDriver(emptyDisk('c', WITH_BUILDS), undefined, WITH_BUILDS), () => {});
  await filled(store);
  await filled(store);

  await expectFilled(store);
});

test.each(Object.entries(places))('on %s it goes after its own retention, by its own setting', async (_name, place) => {
  const store = await held(await place('retained'));
  const clock = new VirtualClock();
  await filled(store, clock.now());
  const settings = retentionFields(WITH_BUILDS).parse({ builds: '12h' });
  const retention = { builds: settings.builds, build_log: settings.build_log } as never;
  const rows = async (): Promise<readonly number[]> => [
    (await asked(store).builds({}, OLDEST)).length,
    (await asked(store).build_log({ build: 'b1' }, 10)).length,
  ];
  const sweeping = startRetention({ store, clock, random: seededRandom(1), log: silentLog, retention });
  const until = async (wanted: readonly number[]): Promise<void> => {
    // The database answers in real time, the sweep waits in virtual time.
    while (String(await rows()) !== String(wanted)) await clock.advance(60_000);
  };

  expect(await rows()).toEqual([3, 3]);
  await clock.advance(DAY_MS / 2);
  await until([0, 3]);
  await until([0, 0]);
  await sweeping.stop();
  await store.close();
});
