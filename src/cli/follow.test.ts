import { describe, expect, it } from 'vitest';
import { openClient } from './client.ts';
import { followSession } from './follow.ts';
import { writeThrough } from './output.ts';
import { type Answer, broken, ended, line, openScene, pieces, raw, refusal } from './testing.ts';

const isOutput = (path: string): boolean => path.endsWith('/output');

function follow(answer: Answer) {
  const scene = openScene(answer);
  const client = openClient(scene.cli.find({}), scene.cli.fetch);
  const result = followSession(scene.cli, client, { id: 's1', write: writeThrough(scene.cli.terminal) }).then(
    (session) => session.end?.exit_code,
    (fault) => fault.kind as string,
  );
  return { ...scene, result };
}

describe('following a session', () => {
  it('goes on where a broken stream stopped: nothing is lost, nothing comes twice', async () => {
    const answers = [
      () => raw(pieces([line(1, 'one '), line(2, 'two '), line(3, 'thr').slice(0, 20)], { breaks: true })),
      () => broken('ECONNREFUSED'),
      // A server may send again what it had sent.
      () => raw(pieces([line(2, 'two '), line(3, 'three ')], { breaks: true })),
      () => raw(pieces([line(1, 'again ', { attempt: 2 })])),
    ];
    const { clock, result, output, errors, asked } = follow(({ path }) =>
      isOutput(path) ? answers.shift()?.() : ended({}, 3),
    );

    await clock.advance(5_000);

    expect(await result).toBe(3);
    expect(output()).toBe('one two three again ');
    expect(errors()).toBe(
      'muster: lost contact with the server; reconnecting\nmuster: connected to the server again\n',
    );
    expect(asked.filter(({ path }) => isOutput(path)).map(({ query }) => [query.attempt, query.after_seq])).toEqual([
      ['0', '0'],
      ['1', '2'],
      ['1', '2'],
      ['1', '3'],
    ]);
  });

  it('says nothing of a stream that is cut now and then, however long it has run', async () => {
    let cut = (): void => {};
    const silent = () =>
      raw(
        new ReadableStream({
          start(controller) {
            cut = () => controller.error(broken('UND_ERR_BODY_TIMEOUT'));
          },
        }),
      );
    const answers = [silent, silent, () => raw(pieces([line(1, 'done')]))];
    const { clock, result, output, errors } = follow(({ path }) => (isOutput(path) ? answers.shift()?.() : ended()));

    for (const _ of [1, 2]) {
      await clock.advance(300_000);
      cut();
    }
    await clock.advance(1_000);

    expect(await result).toBe(0);
    expect(output()).toBe('done');
    expect(errors()).toBe('');
  });

  it('gives up on a server that stays away for two minutes', async () => {
    const { clock, result } = follow(() => broken('ECONNREFUSED'));

    await clock.advance(119_000);
    expect(await Promise.race([result, 'waits'])).toBe('waits');
    await clock.advance(3_000);

    expect(await result).toBe('unavailable');
  });

  it('does not ask again for what is refused', async () => {
    const { result, asked } = follow(() => refusal(404, { kind: 'missing', detail: 'There is no session s1.' }));

    expect(await result).toBe('missing');
    expect(asked).toHaveLength(1);
  });

  it('waits for the end where the stream ended before it', async () => {
    const sessions = [{ ...ended(), end: undefined }, ended({}, 5)];
    const { result, asked } = follow(({ path }) => (isOutput(path) ? raw(pieces([])) : sessions.shift()));

    expect(await result).toBe(5);
    expect(asked.map(({ path }) => path)).toEqual([
      '/sessions/s1/output',
      '/sessions/s1',
      '/sessions/s1/output',
      '/sessions/s1',
    ]);
  });
});
