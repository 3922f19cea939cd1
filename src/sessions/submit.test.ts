import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import { CALLER, exited, openScene, poolRow, type Scene, specOf } from './testing/scene.ts';

const request = (more: Partial<SessionSpec> = {}, pool = 'gpu') => ({ pool, spec: specOf(more) });

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const outcome = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(outcome instanceof Fault)) throw new Fault('internal', `expected a fault, not ${outcome}`);
  return outcome;
}

async function sceneWithPool(more: Parameters<typeof openScene>[0] = {}): Promise<Scene> {
  const scene = await openScene(more);
  await scene.pool('gpu');
  return scene;
}

test('accepts a list in one commit, in order, and answers when it is durable', async () => {
  const scene = await sceneWithPool();
  scene.gate.pause();
  let answered = false;

  const submitting = scene.sessions.submit([request(), request({ priority: 3 })], CALLER);
  void submitting.then(() => {
    answered = true;
  });
  await scene.clock.settle();
  expect(answered).toBe(false);
  scene.gate.resume();
  const [a, b] = await submitting;

  expect(a).toMatchObject({ pool: 'gpu', poolName: 'gpu', by: 'token:ci', attempt: 0, acceptedAt: scene.clock.now() });
  expect(String(a?.id) < String(b?.id)).toBe(true);
  expect(scene.disk.rows.get('sessions')?.size).toBe(2);
});

test('places a session that finds a free slot with the commit that accepts it', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1', { slots: 1 });
  const changes: unknown[] = [];
  scene.store.onChange('sessions', (after) => changes.push(after?.worker));

  const [first] = await scene.sessions.submit([request()], CALLER);
  await scene.sessions.submit([request()], CALLER);
  await scene.clock.settle();

  expect(changes).toEqual(['m-1', undefined]);
  expect(first).toMatchObject({ attempt: 0 });
  expect(scene.sent.map(({ command }) => command.do)).toEqual(['start']);
});

test('a list gets free slots in the order of its priorities', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1', { slots: 1 });

  const [last, first] = await scene.sessions.submit([request({ priority: 5 }), request({ priority: -1 })], CALLER);
  await scene.clock.settle();

  expect([last, first].map((session) => scene.now(session?.id ?? '')?.worker)).toEqual([undefined, 'm-1']);
});

test('places nothing once it has stopped', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1', { slots: 1 });
  await scene.sessions.stop();

  const [session] = await scene.sessions.submit([request()], CALLER);

  expect(scene.now(session?.id ?? '')?.worker).toBeUndefined();
});

test('starts nothing before that commit is durable', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1', { slots: 1 });
  scene.gate.pause();

  const submitting = scene.sessions.submit([request()], CALLER);
  await scene.clock.settle();
  expect(scene.sent).toEqual([]);
  scene.gate.resume();
  await submitting;
  await scene.clock.settle();

  expect(scene.sent).toHaveLength(1);
});

test('takes all or none', async () => {
  const scene = await sceneWithPool();

  const fault = await faultOf(scene.sessions.submit([request(), request({}, 'gpv')], CALLER));

  expect(fault).toMatchObject({ kind: 'missing', at: '[1].pool', remedy: 'Did you mean "gpu"?' });
  expect(scene.store.view.sessions.size).toBe(0);
});

test('without a pool it is the only one, or `local` among several; else the names are said', async () => {
  const scene = await sceneWithPool();
  const nowhere = { spec: specOf() };
  const chosen = async () => (await scene.sessions.submit([nowhere], CALLER))[0]?.poolName;

  expect(await chosen()).toBe('gpu');
  await scene.pool('cpu');
  expect(await faultOf(chosen())).toMatchObject({
    kind: 'invalid',
    message: 'There are 2 pools: the session must name one.',
    remedy: 'Give -p or MUSTER_POOL with one of: cpu, gpu.',
  });
  await scene.pool('local');
  expect(await chosen()).toBe('local');
});

test('a pool that is being removed takes nothing new', async () => {
  const scene = await sceneWithPool();
  await scene.change('pools', poolRow('gpu', { removal: { at: 1, deadlineAt: 2, why: 'asked' } }));

  expect(await faultOf(scene.sessions.submit([request()], CALLER))).toMatchObject({ kind: 'conflict', at: '[0].pool' });
});

test('a full queue refuses more, also within one request', async () => {
  const scene = await sceneWithPool({ limits: { queueLength: 2 } });
  await scene.submit();

  expect(await faultOf(scene.sessions.submit([request(), request()], CALLER))).toMatchObject({ kind: 'throttled' });
  expect(scene.store.view.sessions.size).toBe(1);
});

test.each<[string, Partial<SessionSpec>, string]>([
  ['no command', { command: [] }, '[0].spec.command'],
  ['an empty program', { command: [''] }, '[0].spec.command'],
  ['a zero byte', { command: ['a', 'b\0c'] }, '[0].spec.command[1]'],
  ['a nameless variable', { env: { '': 'x' } }, '[0].spec.env.'],
  ['a variable with an equals sign', { env: { 'A=B': 'x' } }, '[0].spec.env.A=B'],
  ['an argument longer than the kernel takes', { command: ['x'.repeat(131_072)] }, '[0].spec.command[0]'],
  ['more bytes than a session may have', { env: { A: 'x'.repeat(600), B: 'y'.repeat(600) } }, '[0].spec'],
  ['half a priority', { priority: 0.5 }, '[0].spec.priority'],
  ['negative retries', { retries: -1 }, '[0].spec.retries'],
  ['a time limit of nothing', { timeoutMs: 0 }, '[0].spec.timeoutMs'],
  ['an endless grace', { graceMs: Number.POSITIVE_INFINITY }, '[0].spec.graceMs'],
  ['a flat terminal', { terminal: { columns: 80, rows: 0, type: 'x' } }, '[0].spec.terminal.rows'],
])('refuses %s and names the place', async (_, spec, at) => {
  const scene = await sceneWithPool({ limits: { specBytes: 1_000 } });

  const fault = await faultOf(scene.sessions.submit([request(spec)], CALLER));

  expect(fault).toMatchObject({ kind: 'invalid', at });
  expect(scene.store.view.sessions.size).toBe(0);
});

test('refuses a request without sessions, and a key that is none', async () => {
  const scene = await sceneWithPool();

  expect(await faultOf(scene.sessions.submit([], CALLER))).toMatchObject({ kind: 'invalid' });
  expect(await faultOf(scene.sessions.submit([request()], CALLER, ''))).toMatchObject({ kind: 'invalid', at: 'key' });
  expect(await faultOf(scene.sessions.submit([request()], CALLER, 'a\nb'))).toMatchObject({ at: 'key' });
});

test('the same key and request get the same sessions again, live or ended, also after a restart', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1');
  const requests = [request({ env: { A: '1', B: '2' } }), request()];
  const first = await scene.sessions.submit(requests, CALLER, 'k');
  const ids = first.map(({ id }) => id);
  await scene.says('m-1', exited(ids[0] ?? ''));

  const again = await scene.sessions.submit([request({ env: { B: '2', A: '1' } }), request()], CALLER, 'k');
  const restarted = await openScene({ disk: scene.disk, clock: scene.clock });
  const later = await restarted.sessions.submit(requests, CALLER, 'k');

  expect(again.map(({ id }) => id)).toEqual(ids);
  expect(again[0]?.end?.how).toBe('exited');
  expect(later.map(({ id }) => id)).toEqual(ids);
});

test('the same key from another caller, or another key, is another request', async () => {
  const scene = await sceneWithPool();
  await scene.sessions.submit([request()], CALLER, 'k');

  await scene.sessions.submit([request()], { ...CALLER, who: 'token:other' }, 'k');
  await scene.sessions.submit([request()], CALLER, 'k2');

  expect(scene.store.view.sessions.size).toBe(3);
});

test('the same key with another request is refused', async () => {
  const scene = await sceneWithPool();
  await scene.sessions.submit([request()], CALLER, 'k');

  const fault = await faultOf(scene.sessions.submit([request({ command: ['false'] })], CALLER, 'k'));

  expect(fault).toMatchObject({ kind: 'conflict', at: 'key' });
});

test('requests with the same key that come at the same time make one set of sessions', async () => {
  const scene = await sceneWithPool();

  const answers = await Promise.all([1, 2, 3].map(() => scene.sessions.submit([request()], CALLER, 'k')));

  expect(new Set(answers.flatMap((answer) => answer.map(({ id }) => id))).size).toBe(1);
  expect(scene.store.view.sessions.size).toBe(1);
});

test('a key whose first request was refused is free for a good one', async () => {
  const scene = await sceneWithPool();
  await faultOf(scene.sessions.submit([request({}, 'nowhere')], CALLER, 'k'));

  await scene.sessions.submit([request()], CALLER, 'k');

  expect(scene.store.view.sessions.size).toBe(1);
});

test('a repeated request is answered although its pool is gone', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1');
  const [first] = await scene.sessions.submit([request()], CALLER, 'k');
  await scene.says('m-1', exited(first?.id ?? ''));
  await scene.remove('pools', 'gpu');

  const [again] = await scene.sessions.submit([request()], CALLER, 'k');

  expect(again?.id).toBe(first?.id);
});

test('those that wait stay in front although the clock was set back and the server restarted', async () => {
  const scene = await sceneWithPool();
  const waiting = await scene.submit();
  scene.clock.jump(-3_600_000);
  const restarted = await openScene({ disk: scene.disk, clock: scene.clock });

  const later = await restarted.submit();

  expect(waiting.id < later.id).toBe(true);
});

test('a request repeated while its session is just ending gets that session', async () => {
  const scene = await sceneWithPool();
  await scene.join('m-1');
  const [first] = await scene.sessions.submit([request()], CALLER, 'k');
  scene.gate.pause();
  await scene.says('m-1', exited(first?.id ?? ''));

  const repeating = scene.sessions.submit([request()], CALLER, 'k');
  await scene.clock.settle();
  scene.gate.resume();

  expect((await repeating)[0]).toMatchObject({ id: first?.id, end: { how: 'exited' } });
});
