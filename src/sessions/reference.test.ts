import { describe, expect, test } from 'vitest';
import type { Computer } from '#core/computer.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { put } from '#core/store.ts';
import type { SessionRequest } from './sessions.ts';
import { CALLER, exited, openScene, specOf } from './testing/scene.ts';

const OTHER: Actor = { who: 'token:other', from: '10.0.0.8' };

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const outcome = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(outcome instanceof Fault)) throw new Fault('internal', `expected a fault, not ${outcome}`);
  return outcome;
}

async function openWorld() {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { slots: 100 });
  async function start(request: Partial<SessionRequest> = {}, actor = CALLER): Promise<string> {
    const [made] = await scene.sessions.submit([{ pool: 'gpu', spec: specOf(), ...request }], actor);
    await scene.clock.settle();
    return made?.id ?? '';
  }
  const parts = (count: number, name = 'sweep') =>
    Array.from({ length: count }, (_, index) => ({ pool: 'gpu', spec: specOf(), name, part: { index, count } }));
  const end = (id: string) => scene.says('m-1', exited(id));
  const meant = async (text: string, actor = CALLER) => (await scene.sessions.refer(text, actor)).id;
  return { ...scene, start, parts, end, meant };
}

describe('a session is found by', () => {
  test('its name, also after its end, and an unended one before an ended one', async () => {
    const { start, end, meant } = await openWorld();
    const first = await start({ name: 'train' });
    await end(first);
    expect(await meant('train')).toBe(first);
    const second = await start({ name: 'train' });

    expect(await meant('train')).toBe(second);
    await end(second);
    expect(await meant('train')).toBe(second);
  });

  test('its number where several share a name, and the name alone is refused with their numbers', async () => {
    const { sessions, parts, end, meant } = await openWorld();
    const made = await sessions.submit(parts(3), CALLER);
    await end(made[0]?.id ?? '');

    expect(await Promise.all(['sweep/0', 'sweep/2'].map((text) => meant(text)))).toEqual([made[0]?.id, made[2]?.id]);
    expect(await faultOf(meant('sweep'))).toMatchObject({
      kind: 'invalid',
      message: 'sweep names 3 sessions.',
      remedy: 'Name one of them: sweep/0 to sweep/2.',
    });
    expect(await faultOf(meant('sweep/3'))).toMatchObject({ kind: 'missing' });
  });

  test('the first characters of its id, live or ended, but not where several begin so', async () => {
    const { start, end, clock, meant } = await openWorld();
    const ended = await start();
    await end(ended);
    await clock.advance(60_000);
    const live = await start();
    const twin = await start();

    expect(await meant(ended.slice(0, 12))).toBe(ended);
    expect(await meant(live.slice(0, 15))).toBe(live);
    const fault = await faultOf(meant(live.slice(0, 9)));
    expect(fault).toMatchObject({ kind: 'invalid', remedy: 'Write more of the id.' });
    expect(fault.message).toContain(`${live}, ${twin}`);
    expect(await faultOf(meant(live.slice(0, 3)))).toMatchObject({
      kind: 'missing',
      remedy: 'Write at least 4 characters of an id.',
    });
  });

  test('@last: the newest of the caller, live or ended, whatever others have started since', async () => {
    const { start, end, clock, meant } = await openWorld();
    const first = await start();
    await clock.advance(1_000);
    const newest = await start();
    await start({}, OTHER);

    expect(await meant('@last')).toBe(newest);
    await end(newest);
    expect(await meant('@last')).toBe(newest);
    await end(first);
    expect(await meant('@last')).toBe(newest);
  });
});

test('@last of a caller that has started nothing says so, and how to start one', async () => {
  const { start, meant } = await openWorld();
  await start();

  expect(await faultOf(meant('@last', OTHER))).toMatchObject({
    kind: 'missing',
    message: 'token:other has started no session that is still kept, so there is no @last.',
    remedy: expect.stringContaining('muster run'),
  });
});

test('a name that is nearly one of an unended session is answered with that one', async () => {
  const { start, meant } = await openWorld();
  await start({ name: 'nightly' });

  expect(await faultOf(meant('nigthly'))).toMatchObject({ kind: 'missing', remedy: 'Did you mean nightly?' });
});

test('a name that is a computer is answered with the commands of computers', async () => {
  const { store, meant } = await openWorld();
  const offer = { id: 'o', kind: 'sim', config: {} };
  const dates = { createdAt: 0, endsAt: undefined };
  const dev = { id: 'c1', name: 'dev', platform: 'sim', offer, port: 8_000, timeoutMs: 1, maxRetries: 3, ...dates };
  await store.commit([put('computers', { ...dev, by: 'token:ann', token: 't', refusals: 0 } as Computer)]);

  expect(await faultOf(meant('dev'))).toMatchObject({
    kind: 'missing',
    remedy: 'dev is a computer: see `muster computer --help` for what it can do.',
  });
});

describe('a name', () => {
  test('that an unended session has is refused with whose it is, and is free after its end', async () => {
    const { start, end, sessions } = await openWorld();
    const holder = await start({ name: 'train' }, OTHER);
    const again = () => sessions.submit([{ pool: 'gpu', spec: specOf(), name: 'train' }], CALLER);

    expect(await faultOf(again())).toMatchObject({
      kind: 'conflict',
      at: '[0].name',
      message: `The name "train" is taken by session ${holder} in pool gpu, started by token:other.`,
    });
    await end(holder);
    expect(await again()).toMatchObject([{ name: 'train' }]);
  });

  test('is given once in a request, unless the sessions have numbers', async () => {
    const { sessions, parts, store } = await openWorld();
    const one = { pool: 'gpu', spec: specOf(), name: 'a' };

    expect(await faultOf(sessions.submit([one, one], CALLER))).toMatchObject({ kind: 'conflict', at: '[1].name' });
    expect(await faultOf(sessions.submit([...parts(2), ...parts(1)], CALLER))).toMatchObject({ at: '[2].name' });
    expect(store.view.sessions.size).toBe(0);
  });

  test('of many can come in several requests of the same caller, but never twice with the same number', async () => {
    const { sessions, parts } = await openWorld();
    const all = parts(4);

    await sessions.submit(all.slice(0, 2), CALLER);
    await sessions.submit(all.slice(2), CALLER);

    expect(await faultOf(sessions.submit(all.slice(3), CALLER))).toMatchObject({ kind: 'conflict' });
    expect(await faultOf(sessions.submit(parts(5).slice(4), CALLER))).toMatchObject({ kind: 'conflict' });
    expect(await faultOf(sessions.submit(parts(4, 'sweep').slice(0, 1), OTHER))).toMatchObject({ kind: 'conflict' });
  });
});

test('a command sees its number and how many were started together, and cannot be told otherwise', async () => {
  const { sessions, parts, sent, clock } = await openWorld();
  const [, second] = parts(2);
  const env = { MUSTER_INDEX: '9', A: 'b' };

  await sessions.submit([{ pool: 'gpu', spec: specOf({ env }), part: second?.part }], CALLER);
  await clock.settle();

  expect(sent.map(({ command }) => command.do === 'start' && command.spec.env)).toEqual([
    { A: 'b', MUSTER_INDEX: '1', MUSTER_COUNT: '2' },
  ]);
});
