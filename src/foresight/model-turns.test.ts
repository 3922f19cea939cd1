import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { ModelLink } from './model-link.ts';
import type { ModelAnswer, ModelQuestion } from './model-question.ts';
import { openModelThread } from './model-turns.ts';

const QUESTION = {} as ModelQuestion;
const ANSWER: ModelAnswer = [];

/** A link that answers when it is let. */
function heldLink() {
  const asked: { readonly answer: () => void; readonly signal: AbortSignal }[] = [];
  const link: ModelLink = {
    ask(_question, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ModelAnswer>();
      signal.addEventListener('abort', () => reject(signal.reason));
      asked.push({ signal, answer: () => resolve(ANSWER) });
      return promise;
    },
    async close() {},
  };
  return { link, asked };
}

function openHeld() {
  const clock = new VirtualClock();
  const { link, asked } = heldLink();
  const model = openModelThread(clock, link);
  const started: string[] = [];
  const ask = (name: string, token?: string, signal?: AbortSignal) => {
    const prepare = (): ModelQuestion => {
      started.push(name);
      return QUESTION;
    };
    const run = model.run(prepare, { token, signal });
    run.catch(() => {});
    return run;
  };
  const finishOne = async (): Promise<void> => {
    asked.at(-1)?.answer();
    await settle();
  };
  return { clock, model, asked, started, ask, finishOne };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns at the model', () => {
  it('runs one question at a time, and the tokens that ask take turns', async () => {
    const { started, ask, finishOne } = openHeld();
    void ask('ann 1', 'ann');
    void ask('ann 2', 'ann');
    void ask('ann 3', 'ann');
    void ask('bob 1', 'bob');
    await settle();
    expect(started).toEqual(['ann 1']);

    for (let runs = 0; runs < 3; runs += 1) await finishOne();

    expect(started).toEqual(['ann 1', 'ann 2', 'bob 1', 'ann 3']);
  });

  it('lets the server ask next, however many tokens wait, and them after each of its runs', async () => {
    const { started, ask, finishOne } = openHeld();
    void ask('ann 1', 'ann');
    void ask('ann 2', 'ann');
    void ask('bob 1', 'bob');
    void ask('server 1');
    void ask('server 2');
    await settle();

    for (let runs = 0; runs < 4; runs += 1) await finishOne();

    expect(started).toEqual(['ann 1', 'server 1', 'ann 2', 'server 2', 'bob 1']);
  });

  it('refuses a third question that would wait for one token, and no other token', async () => {
    const { ask } = openHeld();
    void ask('ann 1', 'ann');
    void ask('ann 2', 'ann');
    void ask('ann 3', 'ann');

    await expect(ask('ann 4', 'ann')).rejects.toMatchObject({ kind: 'throttled' });
    const other = await Promise.race([ask('bob 1', 'bob').catch((fault: Fault) => fault.kind), settle()]);
    expect(other).toBeUndefined();
  });

  it('ends a run after ten seconds, reading included, and goes on with the next', async () => {
    const { clock, started, ask, asked } = openHeld();
    const long = ask('long', 'ann');
    void ask('next', 'bob');
    await settle();

    await clock.advance(10_000);

    await expect(long).rejects.toMatchObject({ kind: 'quota', remedy: expect.stringContaining('shorter') });
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(started).toEqual(['long', 'next']);
  });

  it('forgets a question whose caller has gone, waiting or running', async () => {
    const { started, ask, finishOne } = openHeld();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = ask('first', 'ann', running.signal);
    const second = ask('second', 'bob', waiting.signal);
    void ask('third', 'cid');
    waiting.abort(new Fault('unavailable', 'gone'));
    await expect(second).rejects.toMatchObject({ message: 'gone' });

    running.abort(new Fault('unavailable', 'gone'));

    await expect(first).rejects.toMatchObject({ message: 'gone' });
    await settle();
    await finishOne();
    expect(started).toEqual(['first', 'third']);
  });

  it('goes on after a question that cannot be prepared', async () => {
    const { model, ask, finishOne } = openHeld();

    const refused = model.run(() => {
      throw new Fault('missing', 'no history');
    });
    await expect(refused).rejects.toMatchObject({ kind: 'missing' });

    const answered = ask('next');
    await settle();
    await finishOne();
    await expect(answered).resolves.toBe(ANSWER);
  });

  it('refuses whatever waits once it is closed', async () => {
    const { model, ask, finishOne } = openHeld();
    void ask('first');
    const second = ask('second');
    await settle();

    await model.close();
    await finishOne();

    await expect(second).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(ask('third')).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
