import { expect, test } from 'vitest';
import { exited, openRunningSession, openScene, output, type Scene } from './testing/scene.ts';

const kept = ({ disk }: Scene) =>
  disk.histories.output.map(({ seq, data, stream }) => `${seq} ${stream} ${Buffer.from(data)}`);

test('output is kept, and acknowledged when it is durable', async () => {
  const scene = await openRunningSession();
  scene.gate.pause();

  await scene.says('m-1', output(scene.id, 1, 'hello'));
  expect(scene.sent).toEqual([]);
  scene.gate.resume();
  await scene.clock.settle();

  expect(kept(scene)).toEqual(['1 stdout hello']);
  const ack = { do: 'ack', session: scene.id, attempt: 1, seq: 1, result: false };
  expect(scene.sent).toEqual([{ agent: 'm-1', command: ack }]);
});

test('pieces that become durable together are acknowledged together', async () => {
  const scene = await openRunningSession();
  scene.gate.pause();
  for (const seq of [1, 2, 3]) await scene.says('m-1', output(scene.id, seq, String(seq)));

  scene.gate.resume();
  await scene.clock.settle();

  expect(scene.sent.at(-1)?.command).toMatchObject({ do: 'ack', seq: 3 });
  expect(scene.sent.length).toBeLessThan(3);
});

test('a piece that comes twice is kept once, and a gap is no hindrance', async () => {
  const scene = await openRunningSession();

  for (const seq of [1, 2, 2, 1, 5]) await scene.says('m-1', output(scene.id, seq, `#${seq}`));

  expect(kept(scene)).toEqual(['1 stdout #1', '2 stdout #2', '5 stdout #5']);
  expect(scene.sent.map(({ command }) => Object(command).seq)).toEqual([1, 2, 2, 1, 5]);
});

test('after a restart what was kept before is known, and what waits for that comes in order', async () => {
  const scene = await openRunningSession();
  for (const seq of [1, 2, 3]) await scene.says('m-1', output(scene.id, seq, `#${seq}`));
  const again = await openScene({ disk: scene.disk, clock: scene.clock });
  await again.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  for (const seq of [2, 3, 4, 5]) again.sessions.report('m-1', output(scene.id, seq, `#${seq}`));
  again.sessions.report('m-1', exited(scene.id, 1, 5));
  await again.clock.settle();

  expect(kept(again)).toEqual([1, 2, 3, 4, 5].map((seq) => `${seq} stdout #${seq}`));
  expect(again.disk.histories.ended).toMatchObject([{ output: { bytes: 10, seq: 5, isCut: false } }]);
  expect(again.sent.at(-1)?.command).toMatchObject({ do: 'ack', seq: 5, result: true });
});

test('little is read again after a restart, since positions are saved on the way', async () => {
  const scene = await openRunningSession();
  for (let seq = 1; seq <= 600; seq++) scene.sessions.report('m-1', output(scene.id, seq, 'ab'));
  await scene.clock.settle();

  expect(scene.now(scene.id)?.output).toEqual({ bytes: 1_024, seq: 512, isCut: false });
});

test('past the limit comes one notice; later output is acknowledged and dropped, also after a restart', async () => {
  const scene = await openRunningSession({ limits: { outputBytes: 2 ** 20 } });
  const large = 'x'.repeat(2 ** 19);
  const small = { chunkBytes: 2 ** 20, outputBytes: 2 ** 20 };
  const roomy = await openScene({ disk: scene.disk, clock: scene.clock, limits: small });
  await roomy.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  for (const seq of [1, 2, 3, 4]) await roomy.says('m-1', output(scene.id, seq, large));
  const again = await openScene({ disk: scene.disk, clock: scene.clock, limits: small });
  await again.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  await again.says('m-1', output(scene.id, 5, 'more'));
  await again.says('m-1', exited(scene.id, 1, 5));

  const chunks = scene.disk.histories.output;
  expect(chunks.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(String(Buffer.from(chunks[2]?.data ?? []))).toBe('\n… output cut after 1 MiB\n');
  expect(roomy.sent.at(-1)?.command).toMatchObject({ do: 'ack', seq: 4 });
  expect(again.disk.histories.ended).toMatchObject([{ output: { isCut: true } }]);
});

test('a piece larger than allowed is cut, and says so', async () => {
  const scene = await openRunningSession({ limits: { chunkBytes: 4 } });

  await scene.says('m-1', output(scene.id, 1, 'abcdef'));

  expect(kept(scene)).toEqual(['1 stdout abcd\n… 2 bytes cut: a piece of output was too large\n']);
});

test('the cap holds for all attempts together', async () => {
  const scene = await openScene({ limits: { outputBytes: 10 } });
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit({ retries: 1 });
  await scene.says('m-1', output(id, 1, '12345678'));
  await scene.gone('m-1');
  await scene.join('m-2');

  await scene.says('m-2', output(id, 1, 'abc', 2));

  expect(kept(scene)).toEqual(['1 stdout 12345678', '1 stderr \n… output cut after 10 bytes\n']);
});

test('an agent is sent away to say it again when the history cannot be read', async () => {
  const scene = await openRunningSession();
  const again = await openScene({ disk: scene.disk, clock: scene.clock });
  await again.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  const { output: read } = again.store.history;
  again.store.history.output = () => Promise.reject(new Error('disk'));

  await again.says('m-1', output(scene.id, 1, 'a'));
  expect(again.dismissed).toEqual(['m-1']);
  expect(again.sent).toEqual([]);
  again.store.history.output = read;
  await again.says('m-1', output(scene.id, 1, 'a'));

  expect(kept(again)).toEqual(['1 stdout a']);
});
