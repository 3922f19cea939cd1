import { describe, expect, it } from 'vitest';
import type { Session } from '../api/wire/session.ts';
import { type Answer, type Asked, aSession, broken, ended, line, openScene, pieces, raw, refusal } from './testing.ts';

const isSubmit = ({ method, path }: Asked): boolean => method === 'POST' && path === '/sessions';
const isOutput = ({ path }: Asked): boolean => path.endsWith('/output');
const isKill = ({ path }: Asked): boolean => path.endsWith('/kill');

/** A server that accepts sessions `s0`, `s1`, … and answers the rest so. */
function server(rest: Answer): Answer {
  return (asked) => {
    if (!isSubmit(asked)) return rest(asked);
    return { items: (asked.body as unknown[]).map((_, n) => aSession({ id: `s${n}` })) };
  };
}

const idIn = ({ path }: Asked): string => path.split('/')[2] as string;

describe('run', () => {
  it('sends what was asked for, shows the output, and ends with the exit code of the command', async () => {
    const { muster, asked, output, errors } = openScene(
      server((one) =>
        isOutput(one) ? raw(pieces([line(1, 'out\n'), line(2, 'err\n', { stream: 'stderr' })])) : ended({}, 7),
      ),
    );

    const words = [
      '-p',
      'gpu',
      '-e',
      'A=1',
      '-e',
      'B=x=y',
      '-e',
      'FROM_CALLER',
      '-l',
      'zone=a',
      '--timeout',
      '5m',
      '--priority',
      '-3',
    ];
    const code = await muster('run', ...words, '--', 'make', '-p', 'all');

    expect(code).toBe(7);
    expect([output(), errors()]).toEqual(['out\n', 'err\n']);
    expect(asked.find(isSubmit)?.body).toEqual([
      {
        pool: 'gpu',
        command: ['make', '-p', 'all'],
        env: { A: '1', B: 'x=y', FROM_CALLER: 'x' },
        labels: { zone: 'a' },
        timeout: '5m',
        priority: -3,
        retries: 0,
        stdin: false,
      },
    ]);
  });

  it('with --count gives each its number, and all the name', async () => {
    const { muster, asked } = openScene(server(() => ({})));

    await muster('run', '-d', '--count', '2', '--name', 'sweep', '--', 'x');
    await muster('run', '-d', '--', 'x');

    const bodies = asked.filter(isSubmit).map(({ body }) => body);
    expect(bodies[0]).toMatchObject([
      { name: 'sweep', index: 0, count: 2 },
      { name: 'sweep', index: 1, count: 2 },
    ]);
    for (const key of ['pool', 'name', 'index', 'count']) expect(bodies[1]).not.toHaveProperty([0, key]);
  });

  it.each(['a b', '@last', '1abc', 'a/b'])('refuses --name "%s" itself, before anything is sent', async (name) => {
    const { muster, asked, errors } = openScene(server(() => ({})));

    expect(await muster('run', '--name', name, '--', 'x')).toBe(2);
    expect(errors()).toContain(`--name ${name} is no name of a session.`);
    expect(asked).toEqual([]);
  });

  it('says once that no worker suits, whatever the number of sessions', async () => {
    const why = 'No worker of pool gpu offers gpu=h100.';
    const { muster, errors } = openScene((asked) =>
      isSubmit(asked) ? { items: (asked.body as unknown[]).map((_, n) => aSession({ id: `s${n}`, why })) } : ended(),
    );

    await muster('run', '-d', '--count', '3', '-l', 'gpu=h100', '--', 'make');

    expect(errors()).toBe(`muster: ${why}\n`);
  });

  it('passes options of the command on, also without --', async () => {
    const { muster, asked } = openScene(server((one) => (isOutput(one) ? raw(pieces([])) : ended())));

    await muster('run', 'ls', '-l', '--help');

    expect(asked.find(isSubmit)?.body).toMatchObject([{ command: ['ls', '-l', '--help'] }]);
  });

  it('repeats a request whose answer was lost under the same key, so that nothing runs twice', async () => {
    const lost = [broken('ECONNRESET'), raw('', { status: 502 })];
    const accept = server((one) => (isOutput(one) ? raw(pieces([])) : ended()));
    const { muster, asked, clock } = openScene((one) => (isSubmit(one) ? lost.shift() : undefined) ?? accept(one));

    const code = muster('run', '--', 'true');
    await clock.advance(5_000);

    expect(await code).toBe(0);
    const keys = asked.filter(isSubmit).map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  it('fails at once where no server is', async () => {
    const { muster, asked } = openScene(() => broken('ECONNREFUSED'));

    expect(await muster('run', '--', 'true')).toBe(9);
    expect(asked).toHaveLength(1);
  });

  it('with --detach prints the ids and stays with nothing', async () => {
    const { muster, asked, output } = openScene(server(() => broken('ECONNREFUSED')));

    expect(await muster('run', '-d', '--count', '2', '--', 'true')).toBe(0);
    expect(output()).toBe('s0\ns1\n');
    expect(asked).toHaveLength(1);
  });

  it('with --count marks whole lines, and fails as the first that failed', async () => {
    const streams: Record<string, string[]> = {
      s0: [line(1, 'one\ntw'), line(2, 'o')],
      s1: [line(1, 'ä').replace(/"data":"[^"]*"/, '"data":"w6Q="')],
      s2: [line(1, 'no\n', { stream: 'stderr' })],
    };
    const ends: Record<string, Session> = { s0: ended(), s1: ended({}, 4), s2: ended({}, 9) };
    const { muster, output, errors } = openScene(
      server((one) => (isOutput(one) ? raw(pieces(streams[idIn(one)] as string[])) : ends[idIn(one)])),
    );

    expect(await muster('run', '--count', '3', '--', 'x')).toBe(4);
    expect(output().split('\n').toSorted()).toEqual(['', '[0] one', '[0] two', '[1] ä']);
    expect(errors()).toBe('[2] no\n');
  });

  it('ends those that were accepted where the rest of many is refused', async () => {
    let batches = 0;
    const accept = server(() => ({}));
    const { muster, asked, errors } = openScene((one) => {
      if (!isSubmit(one) || ++batches < 2) return accept(one);
      return refusal(429, { kind: 'throttled', detail: 'Too many wait.', remedy: 'Wait.' });
    });

    expect(await muster('run', '-d', '--count', '1500', '--', 'x')).not.toBe(0);

    expect(asked.filter(({ path }) => path.endsWith('/kill'))).toHaveLength(1_000);
    expect(errors()).toBe('muster: ending the 1000 sessions that were accepted\nmuster: Too many wait.\n  Wait.\n');
  });

  it('waits for a server that restarts between the parts of many', async () => {
    let batches = 0;
    const accept = server(() => ({}));
    const { muster, clock, output } = openScene((one) => {
      if (isSubmit(one)) batches += 1;
      return batches === 2 ? broken('ECONNREFUSED') : accept(one);
    });

    const code = muster('run', '-d', '--count', '1500', '--', 'x');
    await clock.advance(5_000);

    expect(await code).toBe(0);
    expect(output().trimEnd().split('\n')).toHaveLength(1_500);
  });

  it('follows many sessions a hundred at a time', async () => {
    let open = 0;
    let most = 0;
    const { muster } = openScene(
      server(async (one) => {
        if (!isOutput(one)) return ended({ id: idIn(one) });
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open -= 1;
        return raw(pieces([]));
      }),
    );

    expect(await muster('run', '--count', '250', '--', 'x')).toBe(0);
    expect(most).toBe(100);
  });

  it('says once that the server is away, however many sessions it follows', async () => {
    let isAway = true;
    const { muster, clock, errors } = openScene(
      server((one) => {
        if (isAway) return broken('ECONNREFUSED');
        return isOutput(one) ? raw(pieces([])) : ended({ id: idIn(one) });
      }),
    );

    const code = muster('run', '--count', '5', '--', 'x');
    await clock.advance(3_000);
    isAway = false;
    await clock.advance(3_000);

    expect(await code).toBe(0);
    expect(errors()).toBe(
      'muster: lost contact with the server; reconnecting\nmuster: connected to the server again\n',
    );
  });

  it('says how a session ended that did not simply exit, once for many alike', async () => {
    const cancelled = { at: '2026-01-01T00:00:00.000Z', how: 'timeout', exit_code: 124, message: 'Too long.' } as const;
    const { muster, errors } = openScene(
      server((one) => (isOutput(one) ? raw(pieces([])) : ended({ id: idIn(one), end: cancelled }))),
    );

    expect(await muster('run', '--count', '2', '--', 'x')).toBe(124);
    expect(errors()).toBe('muster: 2 sessions: timeout: Too long.\n');
  });
});

describe('Ctrl-C during run', () => {
  function running() {
    let isOver = false;
    let finish = (): void => {};
    const scene = openScene(
      server((one) => {
        if (isKill(one)) return aSession();
        if (!isOutput(one)) return isOver ? ended({}, 143) : aSession();
        return raw(
          new ReadableStream({
            start(controller) {
              one.signal?.addEventListener('abort', () => controller.error(one.signal?.reason));
              finish = () => {
                isOver = true;
                controller.close();
              };
            },
          }),
        );
      }),
    );
    const code = scene.muster('run', '--', 'sleep', '100');
    const kills = (): unknown[] => scene.asked.filter(isKill).map(({ body }) => body);
    return { ...scene, code, kills, finish: () => finish() };
  }

  it('ends the session politely, and waits for its end', async () => {
    const { clock, interrupt, kills, code, finish, errors } = running();
    await clock.settle();

    interrupt();
    await clock.settle();
    finish();

    expect(await code).toBe(143);
    expect(kills()).toEqual([{ force: false }]);
    expect(errors()).toContain('muster: ending session s0 (Ctrl-C again sends SIGKILL)');
  });

  it('forces it the second time, and leaves the third', async () => {
    const { clock, interrupt, kills, code, errors } = running();
    await clock.settle();

    interrupt();
    interrupt();
    await clock.settle();
    interrupt();

    expect(await code).toBe(130);
    expect(kills()).toEqual([{ force: false }, { force: true }]);
    expect(errors()).toContain('exiting; session s0 may still run');
  });

  it('reaches a server that is restarting when it is back', async () => {
    let isAway = false;
    const scene = openScene(
      server((one) => {
        if (isAway) return broken('ECONNREFUSED');
        if (isKill(one)) return aSession();
        return isOutput(one) ? raw(pieces([], { isOpen: true })) : aSession();
      }),
    );
    void scene.muster('run', '--', 'sleep', '100');
    await scene.clock.settle();
    isAway = true;

    scene.interrupt();
    await scene.clock.advance(3_000);
    isAway = false;
    const before = scene.asked.length;
    await scene.clock.advance(3_000);

    expect(scene.asked.slice(before).map(({ body }) => body)).toEqual([{ force: false }]);
    expect(scene.errors()).not.toContain('could not end it');
  });

  it('says where the server refuses to end it', async () => {
    const scene = openScene(
      server((one) => {
        if (isKill(one)) return refusal(403, { kind: 'denied', detail: 'This needs the role operator.' });
        return isOutput(one) ? raw(pieces([], { isOpen: true })) : aSession();
      }),
    );
    void scene.muster('run', '--', 'sleep', '100');
    await scene.clock.settle();

    scene.interrupt();
    await scene.clock.settle();

    expect(scene.errors()).toContain('cannot end the session: This needs the role operator.');
  });

  it('ends the session too when the reader of its output closes the pipe', async () => {
    const { clock, breakPipe, kills, code, errors } = running();
    await clock.settle();

    breakPipe();
    await code;

    expect(kills()).toEqual([{ force: false }]);
    expect(errors()).toBe('');
  });
});
