import { describe, expect, it } from 'vitest';
import { aSession, ended, line, openScene, pieces, raw } from './testing.ts';

describe('session kill', () => {
  it('says that a running session is being ended', async () => {
    const { muster, output, asked } = openScene(() => aSession());

    expect(await muster('session', 'kill', '--force', 's1')).toBe(0);
    expect(output()).toBe('Ending session s1.\n');
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/sessions/s1/kill', body: { force: true } });
  });

  it('ends several in the order in which they are named, and none where one of the names is empty', async () => {
    const { muster, asked, output } = openScene(({ path }) => aSession({ id: path.split('/')[2] ?? '' }));

    expect(await muster('session', 'kill', 'a1', '')).toBe(2);
    expect(asked).toEqual([]);
    expect(await muster('session', 'kill', 'a1', 'a2', '--force')).toBe(0);
    expect(asked.map(({ path, body }) => [path, body])).toEqual([
      ['/sessions/a1/kill', { force: true }],
      ['/sessions/a2/kill', { force: true }],
    ]);
    expect(output()).toBe('Ending session a1.\nEnding session a2.\n');
  });

  it('says so where it had ended before', async () => {
    const { muster, output } = openScene(() => ended({}, 3));

    expect(await muster('session', 'kill', 's1')).toBe(0);
    expect(output()).toBe('Session s1 has ended: exited, exit code 3.\n');
  });
});

describe('a session that is named by another word than its id', () => {
  it.each([['wait'], ['logs', '-f']])('%s stays with the session that the word named at first', async (...words) => {
    const { muster, asked } = openScene(({ path }) =>
      path.endsWith('/output') ? raw(pieces([])) : ended({ id: 's7' }),
    );

    await muster('session', ...words, '@last');

    expect(asked[0]?.path).toBe('/sessions/%40last');
    expect(new Set(asked.slice(1).map(({ path }) => path.split('/')[2]))).toEqual(new Set(['s7']));
  });

  it('is named by its id when it is ended', async () => {
    const { muster, output } = openScene(() => aSession({ id: 's7' }));

    await muster('session', 'kill', 'sweep/3');

    expect(output()).toBe('Ending session s7.\n');
  });
});

describe('logs', () => {
  it('asks for the last lines and for those since a time, with -f only until something has come', async () => {
    let isBroken = true;
    const { muster, asked, clock } = openScene(({ path }) => {
      if (!path.endsWith('/output')) return ended({ id: 's1' });
      const stream = pieces([line(4, 'x\n')], { breaks: isBroken });
      isBroken = false;
      return raw(stream);
    });

    await muster('logs', 's1', '--tail', '10', '--since', '5m');
    isBroken = true;
    const following = muster('logs', 's1', '-f', '--tail', '10', '--since', '5m');
    await clock.advance(2_000);
    await following;

    const queries = asked.filter(({ path }) => path.endsWith('/output')).map(({ query }) => query);
    expect(queries[1]).toMatchObject({ follow: 'true', tail: '10', since: '5m' });
    expect(queries[2]).toEqual({ follow: 'true', attempt: '1', after_seq: '4' });
  });

  it('with -t begins each line with the time of its beginning', async () => {
    const at = (second: number) => ({ at: `2026-01-01T00:00:0${second}.000Z` });
    const { muster, output } = openScene(() =>
      raw(pieces([line(1, 'one\ntw', at(1)), line(2, 'o\nthr', at(2)), line(3, 'ee', at(3))])),
    );

    await muster('logs', '-t', 's1');

    expect(output()).toBe(
      '2026-01-01T00:00:01.000Z one\n2026-01-01T00:00:01.000Z two\n2026-01-01T00:00:02.000Z three\n',
    );
  });

  it.each([
    [['--tail', '-1'], '--tail -1 is out of range.'],
    [['--since', ' '], '--since: the name is empty.'],
  ])('refuses %j', async (words, said) => {
    const { muster, errors } = openScene(() => ({}));

    expect(await muster('logs', 's1', ...words)).toBe(2);
    expect(errors()).toContain(said);
  });
});

describe('session wait', () => {
  it.each([
    [{ how: 'refused', message: 'There is no /srv.' } as const, 'session s1: refused: There is no /srv.'],
    [
      { how: 'timeout', signal: 'SIGTERM', message: 'It ran too long.' } as const,
      'timeout by SIGTERM: It ran too long.',
    ],
    [{ how: 'signalled', signal: 'SIGKILL' } as const, 'session s1: signalled by SIGKILL\n'],
    [{ how: 'exited', message: 'x: command not found' } as const, 'session s1: x: command not found'],
  ])('tells the end %j', async (end, said) => {
    const { muster, errors } = openScene(() =>
      ended({ end: { at: '2026-01-01T00:00:01.000Z', exit_code: 4, ...end } }),
    );

    expect(await muster('session', 'wait', 's1')).toBe(4);
    expect(errors()).toContain(said);
  });
});
