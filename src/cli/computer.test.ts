import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Computer } from '../api/wire/computer.ts';
import { type Answer, aSession, ended, line, openScene, pieces, raw, refusal } from './testing.ts';

const aComputer = (over: Partial<Computer> = {}): Computer => ({
  ...{ name: 'dev', id: 'c1', platform: 'aws', status: 'running', by: 'token:ann', port: 8_000 },
  ...{ created_at: '2026-01-01T00:00:00.000Z', endpoints: [], agent: true },
  ...over,
});

const at = (over: Partial<Computer>): string => `${JSON.stringify(aComputer(over))}\n`;
const END = { at: '2026-01-01T01:00:00.000Z', by: 'token:ann', why: 'Removed by token:ann.' };

async function run(answer: Answer, ...words: string[]) {
  const scene = openScene(answer);
  const code = await scene.muster('computer', ...words);
  return { code, asked: scene.asked, output: scene.output(), errors: scene.errors() };
}

describe('computer create', () => {
  it('sends what was asked for, and waits until it runs', async () => {
    const answer: Answer = ({ path }) =>
      path.endsWith('/progress')
        ? raw(pieces([at({ status: 'starting', why: 'Its machine is creating.' }), at({}), '\n']))
        : aComputer({ status: 'starting' });
    const words = ['create', 'dev', '--platform', 'aws', '--set', 'region=eu-west-1', '--ttl', '8h', '--wait'];

    const { code, asked, output } = await run(answer, ...words);

    expect(asked[0]).toMatchObject({
      method: 'POST',
      path: '/computers',
      body: { name: 'dev', platform: 'aws', options: { region: 'eu-west-1' }, ttl: '8h' },
    });
    expect(output).toBe('Computer dev is starting. Its machine is creating.\nComputer dev is running.\n');
    expect(code).toBe(0);
  });

  it('ends with 1 and the reason where it fails', async () => {
    const failed = at({ status: 'error', why: 'Failed after 3 attempts: No room.' });
    const answer: Answer = ({ path }) => (path.endsWith('/progress') ? raw(pieces([failed])) : aComputer());

    const { code, output } = await run(answer, 'create', 'dev', '--platform', 'aws', '--wait');

    expect([code, output]).toEqual([1, 'Computer dev has failed. Failed after 3 attempts: No room.\n']);
  });

  it('reads a backend from a file, and refuses one that is none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-backend-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'backend.yaml');
    writeFileSync(file, 'docker: {image: "muster/agent:1"}\n');
    const { asked } = await run(() => aComputer(), 'create', 'dev', '--backend', file);
    expect(asked[0]?.body).toMatchObject({ backend: { docker: { image: 'muster/agent:1' } } });

    writeFileSync(file, 'just a text\n');
    expect(await run(() => aComputer(), 'create', 'dev', '--backend', file)).toMatchObject({
      code: 2,
      asked: [],
      errors: expect.stringContaining('holds no backend'),
    });
  });
});

it('computer wait and why say the reason and its remedy as sentences, also where a cloud left out the full stop', async () => {
  const failure = { kind: 'denied', message: 'No credentials', remedy: 'Renew them.', at: END.at };
  const dev = aComputer({ status: 'error', why: 'Failed after 3 attempts: No credentials', failure });
  const waited = await run(() => raw(pieces([`${JSON.stringify(dev)}\n`])), 'wait', 'dev');
  expect(waited.output).toBe('Computer dev has failed. Failed after 3 attempts: No credentials. Renew them.\n');

  const refused = { ...failure, retry_at: END.at };
  const more = { refusals: 3, max_retries: 3, timeout: '10m', frozen: false, events: [] };
  const why = await run(() => ({ computer: dev, waits: dev.why, refused, ...more }), 'why', 'dev');
  expect(why.output).toMatch(/^Why +Failed after 3 attempts: No credentials$/m);
  expect(why.output).toMatch(/^Last refusal +2026-01-01 01:00:00Z: No credentials\. Renew them\.$/m);
});

describe('computer exec', () => {
  const answer =
    (exitCode: number): Answer =>
    ({ path, method }) => {
      if (method === 'POST') return { items: [aSession({ pool: undefined, computer: 'dev' })] };
      if (path.endsWith('/output')) return raw(line(1, 'hello\n'));
      return ended({ pool: undefined, computer: 'dev' }, exitCode);
    };

  it('prints the output of the command and exits with its exit code; its options are its own', async () => {
    const { code, output, asked } = await run(answer(7), 'exec', 'dev', '--', 'ls', '-l', '--all');

    expect([code, output]).toEqual([7, 'hello\n']);
    expect(asked[0]).toMatchObject({
      path: '/computers/dev/sessions',
      body: [{ command: ['ls', '-l', '--all'], stdin: false }],
    });
  });

  it('says where the command goes when an option of it is taken for one of its own', async () => {
    const { code, asked, errors } = await run(answer(0), 'exec', 'dev', 'uname', '-a');

    expect([code, asked]).toEqual([2, []]);
    expect(errors).toContain('Write the command after --. See `muster computer exec --help`.');
  });

  it('says since when the agent is away and why', async () => {
    const detail = 'The agent of computer dev is away since 2026-01-01T00:00:00.000Z.';
    const remedy = 'Its machine is running: see `muster computer why dev`.';
    const { code, asked, errors } = await run(
      () => refusal(409, { kind: 'conflict', detail, remedy }),
      ...['exec', 'dev', '--', 'true'],
    );

    expect([code === 0, asked.length]).toEqual([false, 1]);
    expect(errors).toContain(detail);
    expect(errors).toContain('Its machine is running');
  });
});

describe('computer rm', () => {
  it('is a success where it is gone already', async () => {
    const { code, output } = await run(() => aComputer({ status: 'stopped', end: END }), 'rm', 'dev', '--wait');

    expect([code, output]).toEqual([0, 'Computer dev is gone since 2026-01-01 01:00:00Z. Removed by token:ann.\n']);
  });

  it('waits until nothing of it exists', async () => {
    let asks = 0;
    const answer: Answer = ({ path, method }) => {
      if (method === 'DELETE') return aComputer({ status: 'stopping', why: 'It is being removed: asked.' });
      if (!path.endsWith('/progress')) return aComputer({ status: 'stopped', end: END });
      asks += 1;
      return asks === 1
        ? raw(pieces([at({ status: 'stopping' })]))
        : refusal(404, { kind: 'missing', detail: 'None.' });
    };
    const scene = openScene(answer);
    const code = scene.muster('computer', 'rm', 'dev', '--wait');
    await scene.clock.advance(5_000);

    expect(await code).toBe(0);
    expect(scene.output()).toBe('Computer dev is stopping.\nComputer dev is gone.\n');
  });
});

it('computer ls, extend, describe and why are plain words', async () => {
  const away = aComputer({ agent: false, ends_at: '2026-01-01T08:00:00.000Z', why: 'Its agent is away.' });
  const list = await run(
    () => ({ items: [away, aComputer({ name: 'old', status: 'stopped', end: END })] }),
    'ls',
    '-a',
  );
  expect(list.asked[0]?.query).toMatchObject({ all: 'true' });
  expect(list.output).toMatch(/dev +running, agent away +aws +\S+ +in 8h +token:ann +Its agent is away\./);

  const extended = await run(() => away, 'extend', 'dev', '2h');
  expect(extended.asked[0]).toMatchObject({ path: '/computers/dev/extend', body: { by: '2h' } });

  const scene = openScene(() => aComputer());
  await scene.muster('describe', 'computer', 'dev');
  expect(scene.output()).toContain('Ends      never by itself');

  const why = { computer: away, waits: away.why, refusals: 1, max_retries: 3, timeout: '10m', frozen: false };
  const event = {
    id: 'e',
    at: END.at,
    kind: 'computer.asked',
    subject: 's',
    who: 'muster',
    from: 'f',
    message: 'Asked.',
  };
  expect((await run(() => ({ ...why, events: [event] }), 'why', 'dev')).output).toMatch(
    /Refused +1 of 3 launches[\s\S]*Last events:\n2026-01-01 01:00:00Z {2}computer.asked {2}Asked\./,
  );
});

it('computer cp says how a side is written, and platforms what is meant', async () => {
  expect((await run(() => ({}), 'cp', 'a', 'b')).errors).toContain('a computer, written NAME:PATH');
  const offers = {
    platforms: [{ name: 'aws', about: 'an EC2 instance', needs_admin: false, options: [] }],
    templates: [],
  };
  expect((await run(() => offers, 'platforms', 'awss')).errors).toContain('Did you mean aws?');
});
