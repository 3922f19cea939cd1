import { describe, expect, it } from 'vitest';
import type { Runtime } from '../api/wire/runtime.ts';
import { type Answer, broken, openScene, pieces, raw, refusal } from './testing.ts';

const at = (phase: Runtime['phase'], why?: string): string =>
  `${JSON.stringify({ id: 'a', phase, why, slots: 1, grant: phase === 'ready' ? { host: 'http://a.test' } : undefined })}\n`;

const isProgress = (path: string): boolean => path === '/runtimes/a/progress';

/** Each question about progress gets the next answer; whatever else is asked gets the runtime. */
function waiting(answers: (() => unknown)[], words = ['create', 'a', '--slots', '1', '--wait']) {
  const answer: Answer = ({ path, method }) => {
    if (isProgress(path)) return answers.shift()?.();
    return method === 'DELETE' ? { runtime: { id: 'a', phase: 'releasing' } } : JSON.parse(at('pending'));
  };
  const scene = openScene(answer);
  return { ...scene, code: scene.muster('runtime', ...words) };
}

describe('waiting for a runtime', () => {
  it('takes the beat of a silent server for nothing but a sign of life', async () => {
    const { code, output } = waiting([() => raw(pieces([at('provisioning'), '\n', '\n', '\n', at('ready')]))]);

    expect(await code).toBe(0);
    expect(output()).toBe('Runtime a is provisioning.\nRuntime a is ready at http://a.test.\n');
  });

  it('goes on where its connection breaks, and says nothing twice', async () => {
    const { code, clock, output, asked } = waiting([
      () => raw(pieces([at('provisioning')], { breaks: true })),
      () => broken('ECONNREFUSED'),
      () => raw(pieces([at('provisioning'), at('ready')])),
    ]);
    await clock.advance(5_000);

    expect(await code).toBe(0);
    expect(output()).toBe('Runtime a is provisioning.\nRuntime a is ready at http://a.test.\n');
    expect(asked.filter(({ path }) => isProgress(path)).map(({ query }) => query.timeout)).toEqual([
      '3600000ms',
      '3599500ms',
      '3599000ms',
    ]);
  });

  it('goes on where a server that stops ends its answer, until its own time is up', async () => {
    const words = ['wait', 'a', '--timeout', '2s'];
    const { code, clock, asked } = waiting(
      Array.from({ length: 9 }, () => () => raw(pieces([at('updating')]))),
      words,
    );
    await clock.advance(5_000);

    expect(await code).toBe(1);
    expect(asked.filter(({ path }) => isProgress(path)).map(({ query }) => query.timeout)).toEqual([
      '2000ms',
      '1500ms',
      '1000ms',
      '500ms',
      '0ms',
    ]);
  });

  it('ends well where the runtime that it waits for is gone', async () => {
    const missing = () => refusal(404, { kind: 'missing', detail: 'There is no runtime a.' });
    const { code, clock } = waiting([() => raw(pieces([at('releasing')])), missing], ['wait', 'a']);
    await clock.advance(5_000);

    expect(await code).toBe(0);
    expect(await waiting([missing], ['wait', 'a']).code).not.toBe(0);
  });

  it('ends with 1 where it is in error', async () => {
    const { code, output } = waiting([() => raw(pieces([at('error', 'No room.')]))]);

    expect(await code).toBe(1);
    expect(output()).toBe('Runtime a is in error. No room.\n');
  });
});

describe('runtime set', () => {
  const put = async (...words: string[]) => {
    const scene = openScene(() => JSON.parse(at('updating')));
    const code = await scene.muster('runtime', 'set', 'a', ...words);
    return {
      code,
      errors: scene.errors(),
      asked: scene.asked.map(({ method, path, body }) => ({ method, path, body })),
    };
  };

  it('sends what is to be changed, and nothing else', async () => {
    const { code, asked } = await put('--annotation', 'plan=pro', '--unannotate', 'domain', '--disk-gb', '80');

    expect(code).toBe(0);
    const body = { annotations: { plan: 'pro', domain: null }, disk_gb: 80 };
    expect(asked).toEqual([{ method: 'PUT', path: '/runtimes/a', body }]);
    expect((await put('--environment', 'dev')).asked[0]?.body).toEqual({ environment: 'dev' });
  });

  it('asks for something to change', async () => {
    const { code, errors, asked } = await put();

    expect([code === 0, asked]).toEqual([false, []]);
    expect(errors).toContain('Give --annotation, --unannotate, --environment or --disk-gb.');
  });
});
