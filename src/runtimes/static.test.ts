import { describe, expect, test } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { emptyDisk } from '#store/memory.ts';
import { CALLER, faultOfCall, openRuntimesScene, settingsOf, staticSet } from './testing/scene.ts';

const opened = (count: number, slots: number, more: object = {}) =>
  openRuntimesScene({ settings: staticSet(count, slots, more) });

test('a runtime is granted with its host, audience, directory and resources', async () => {
  const { runtimes, stop } = await opened(1, 50);

  const { runtime, isNew } = await runtimes.create({ id: 'a', slots: 4, annotations: { org: 'acme' } }, CALLER);

  expect(isNew).toBe(true);
  expect(runtime).toMatchObject({ phase: 'ready', host: 'http://h1', provisioner: 'fixed' });
  const storageBytes = 4 * 42_949_672_960;
  expect(runtime.grant).toEqual({
    host: 'http://h1',
    audience: 'http://h1',
    dataDir: '/mnt/data',
    cpu: 4,
    memoryGb: 16,
    storageBytes,
  });
  await stop();
});

test('the same request again charges nothing; another with its id is a conflict', async () => {
  const { runtimes, stop } = await opened(2, 5);
  const first = await runtimes.create({ id: 'a', slots: 3 }, CALLER);

  const second = await runtimes.create({ id: 'a', slots: 3 }, CALLER);
  const other = await faultOfCall(runtimes.create({ id: 'a', slots: 2 }, CALLER));

  expect(second).toEqual({ runtime: first.runtime, isNew: false });
  expect(other).toMatchObject({ kind: 'conflict', message: 'Runtime a exists with other values.' });
  expect(runtimes.hosts().map(({ used }) => used)).toEqual([3, 0]);
  await stop();
});

test('a thousand requests at once on fifty hosts of twenty slots: all granted, none over, the next one refused', async () => {
  const { runtimes, stop } = await opened(50, 20);

  const requests = Array.from({ length: 1_000 }, (_, at) => runtimes.create({ id: `r${at}`, slots: 1 }, CALLER));
  const granted = await Promise.all(requests);
  const refused = await faultOfCall(runtimes.create({ id: 'late', slots: 1 }, CALLER));

  expect(granted.filter(({ isNew }) => isNew)).toHaveLength(1_000);
  expect(runtimes.hosts().every(({ used }) => used === 20)).toBe(true);
  expect(refused).toMatchObject({ kind: 'exhausted' });
  expect(refused.message).toMatch(/the freest, http:\/\/h\d+ has 0 of 20.*the fullest, http:\/\/h\d+ has 0 of 20/);
  await stop();
});

test('after a restart at any commit every host is charged for exactly its runtimes', async () => {
  const random = seededRandom(7);
  const disk = emptyDisk();
  const wanted = Array.from({ length: 40 }, (_, at) => ({ id: `r${at}`, slots: 1 + Math.floor(random.next() * 3) }));
  for (let rounds = 0; rounds < 4; rounds++) {
    const { runtimes, store, stop } = await openRuntimesScene({ disk, settings: staticSet(4, 20) });
    // A caller that got no answer asks for everything again.
    for (const request of wanted.slice(0, (rounds + 1) * 10)) await runtimes.create(request, CALLER);
    for (const { host, used, slots, runtimes: there } of runtimes.hosts()) {
      expect(used).toBe(there.reduce((sum, id) => sum + (store.view.runtimes.get(id)?.slots ?? 0), 0));
      expect(used).toBeLessThanOrEqual(slots);
      expect(host).toMatch(/^http:\/\/h[1-4]$/);
    }
    await stop();
  }
});

describe('a change of size', () => {
  test('stays on its host where that has room, its own slots counted as free', async () => {
    const { runtimes, stop } = await opened(2, 10);
    await runtimes.create({ id: 'a', slots: 6 }, CALLER);

    const after = await runtimes.edit('a', { slots: 10 }, CALLER);

    expect(after).toMatchObject({ slots: 10, host: 'http://h1' });
    expect(after.grant?.cpu).toBe(10);
    await stop();
  });

  test('is refused with the plan where it would move, and moves when that is allowed', async () => {
    const { runtimes, stop } = await opened(2, 10, { placement: 'pack' });
    await runtimes.create({ id: 'a', slots: 4 }, CALLER);
    await runtimes.create({ id: 'b', slots: 4 }, CALLER);

    const refused = await faultOfCall(runtimes.edit('a', { slots: 8 }, CALLER));
    expect(refused.message).toBe(
      'http://h1 has no room for 8 slots; runtime a would move to http://h2, without its data.',
    );
    expect(runtimes.hosts().map(({ used }) => used)).toEqual([8, 0]);

    await runtimes.edit('a', { slots: 8, mayMove: true }, CALLER);
    expect(runtimes.hosts().map(({ used }) => used)).toEqual([4, 8]);
    await stop();
  });

  test('never takes a slot that another request of the same moment gets', async () => {
    const { runtimes, store, stop } = await opened(2, 10);
    for (const id of ['a', 'b', 'c']) await runtimes.create({ id, slots: 2 }, CALLER);

    await Promise.allSettled([
      ...['a', 'b', 'c'].map((id) => runtimes.edit(id, { slots: 8, mayMove: true }, CALLER)),
      ...['d', 'e', 'f'].map((id) => runtimes.create({ id, slots: 1 }, CALLER)),
    ]);

    const sums = new Map<string, number>();
    for (const { host = '', slots } of store.view.runtimes.all()) sums.set(host, (sums.get(host) ?? 0) + slots);
    expect([...sums.values()].every((used) => used <= 10)).toBe(true);
    expect(store.view.runtimes.size).toBeGreaterThan(3);
    await stop();
  });

  test('shrinks in place even where its host has left the set', async () => {
    const { runtimes, stop } = await opened(2, 10);
    await runtimes.create({ id: 'a', slots: 6 }, CALLER);
    runtimes.configure(
      settingsOf({
        provisioners: { fixed: { type: 'static', spec: { runtimes: [{ host: 'http://h2', slots: 10 }] } } },
        default: 'fixed',
      }),
    );

    expect(await runtimes.edit('a', { slots: 2 }, CALLER)).toMatchObject({ host: 'http://h1', slots: 2 });
    expect(runtimes.hosts()).toContainEqual(
      expect.objectContaining({ host: 'http://h1', slots: 0, used: 2, runtimes: ['a'] }),
    );
    await stop();
  });
});

describe('a drained host', () => {
  test('takes no new runtimes; what lives there is shown with where it would go', async () => {
    const { runtimes, stop } = await opened(2, 10);
    await runtimes.create({ id: 'a', slots: 6 }, CALLER);

    const moves = await runtimes.drainHost('h1', { moves: false }, CALLER);
    const { runtime } = await runtimes.create({ id: 'b', slots: 1 }, CALLER);

    expect(moves).toEqual([{ runtime: 'a', slots: 6, to: 'http://h2' }]);
    expect(runtime.host).toBe('http://h2');
    expect(runtimes.hosts()[0]).toMatchObject({ used: 6, isDrained: true });
    await stop();
  });

  test('gives its runtimes to the others as far as they have room, and takes new ones once released', async () => {
    const { runtimes, stop } = await opened(2, 10, { placement: 'pack' });
    for (const [id, slots] of [
      ['a', 4],
      ['b', 6],
      ['c', 5],
    ] as const)
      await runtimes.create({ id, slots }, CALLER);

    const moves = await runtimes.drainHost('http://h1', { moves: true }, CALLER);

    expect(moves).toEqual([
      { runtime: 'b', slots: 6, to: undefined },
      { runtime: 'a', slots: 4, to: 'http://h2' },
    ]);
    expect(runtimes.hosts().map(({ used }) => used)).toEqual([6, 9]);
    await runtimes.releaseHost('h1', CALLER);
    expect((await runtimes.create({ id: 'd', slots: 4 }, CALLER)).runtime.host).toBe('http://h1');
    await stop();
  });
});

test('two provisioners that name one host share its slots', async () => {
  const spec = { runtimes: [{ host: 'http://h1', slots: 5 }] };
  const provisioners = { one: { type: 'static', spec }, two: { type: 'static', spec } };
  const { runtimes, stop } = await openRuntimesScene({ settings: { provisioners, default: 'one' } });
  await runtimes.create({ id: 'a', slots: 4 }, CALLER);

  const refused = await faultOfCall(runtimes.create({ id: 'b', slots: 2, provisioner: 'two' }, CALLER));

  expect(refused.kind).toBe('exhausted');
  expect(runtimes.hosts()).toMatchObject([{ provisioners: ['one', 'two'], used: 4 }]);
  await stop();
});

test('one host in two spellings is one host, with its slots once', async () => {
  const spec = (host: string) => ({ type: 'static', spec: { runtimes: [{ host, slots: 2 }] } });
  const hosts = ['http://h1/', 'http://H1', 'http://h1:80'];
  const provisioners = Object.fromEntries(hosts.map((host, at) => [`p${at}`, spec(host)]));
  const { runtimes, stop } = await openRuntimesScene({ settings: { provisioners } });
  await runtimes.create({ id: 'a', slots: 2, provisioner: 'p0' }, CALLER);

  expect(runtimes.hosts()).toMatchObject([{ host: 'http://h1', used: 2, slots: 2 }]);
  expect((await faultOfCall(runtimes.create({ id: 'b', slots: 1, provisioner: 'p1' }, CALLER))).kind).toBe('exhausted');
  const twice = { fixed: { type: 'static', spec: { runtimes: hosts.map((host) => ({ host, slots: 2 })) } } };
  expect(() => settingsOf({ provisioners: twice })).toThrow('already named');
  await stop();
});

test('hosts that leave the set, or have too few slots now, are reported with what lives there', async () => {
  const scene = await openRuntimesScene({ settings: staticSet(2, 5, { placement: 'pack' }) });
  for (const id of ['a', 'b']) await scene.runtimes.create({ id, slots: 5 }, CALLER);
  const events = async () => (await scene.events()).filter((message) => message.startsWith('Host '));

  const fewer = { host: 'http://h2', slots: 3 };
  const provisioners = { fixed: { type: 'static', spec: { runtimes: [fewer] } } };
  scene.runtimes.configure(settingsOf({ provisioners }));
  scene.runtimes.configure(settingsOf({ provisioners }));

  expect(await events()).toEqual([
    'Host http://h2 has 3 slots in the set; its runtimes use 5: b.',
    'Host http://h1 has left the set; 1 of its runtimes still live there: a.',
  ]);
  // A field `message` would stand beside that of the line itself.
  expect(scene.lines[0]).toEqual({
    said: 'runtimes do not fit their host',
    fields: { host: 'http://h2', why: 'Host http://h2 has 3 slots in the set; its runtimes use 5: b.' },
  });
  await scene.stop();
});

test('a request again is the same request after the default has changed', async () => {
  const scene = await openRuntimesScene({ settings: staticSet(1, 5) });
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  scene.runtimes.configure(settingsOf({ ...staticSet(1, 5), default: undefined }));

  expect(await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER)).toMatchObject({ isNew: false });
  await scene.stop();
});

test('a provisioner stays in the set, and of its type, while runtimes live there', async () => {
  const { runtimes, stop } = await opened(1, 10);
  await runtimes.create({ id: 'a', slots: 1 }, CALLER);

  expect(runtimes.refuses?.(settingsOf({}))).toEqual([
    { path: 'provisioners.fixed', message: expect.stringContaining('must stay in the set: 1 runtime lives there') },
  ]);
  const other = { provisioners: { fixed: { type: 'memory_runtime', spec: {} } } };
  expect(runtimes.refuses?.(settingsOf(other))).toEqual([
    { path: 'provisioners.fixed', message: 'must stay of type static: 1 runtime lives there' },
  ]);
  await runtimes.remove('a', CALLER);
  expect(runtimes.refuses?.(settingsOf({}))).toEqual([]);
  await stop();
});

test('ids that are no DNS label, unknown provisioners and unknown runtimes are refused by name', async () => {
  const { runtimes, stop } = await opened(1, 10);
  const create = (id: string, provisioner?: string) =>
    faultOfCall(runtimes.create({ id, slots: 1, provisioner }, CALLER)).then(({ message, remedy }) => [
      message,
      remedy,
    ]);

  for (const id of ['', 'A', 'a_b', '-a', 'a-', 'a.b', 'x'.repeat(64)]) {
    expect((await create(id))[0]).toBe(`"${id}" is no DNS label.`);
  }
  expect(await create('a', 'fixd')).toEqual(['There is no provisioner fixd.', 'Did you mean fixed?']);
  expect((await faultOfCall(runtimes.hibernate('a', CALLER))).message).toBe('There is no runtime a.');
  await stop();
});
