import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Backend } from '#core/provider.ts';
import { openForms } from './forms.ts';

function setUp() {
  const told: { answer: () => Promise<string> } = { answer: async () => 'v1' };
  const backend = { cloud: 'aws', form: () => told.answer() } as unknown as Backend;
  const changed: string[] = [];
  const forms = openForms({
    backends: () => [['a', backend]],
    changed: (offer) => void changed.push(offer),
    signal: new AbortController().signal,
    log: silentLog,
  });
  const ask = async (answer: () => Promise<string>): Promise<string | undefined> => {
    told.answer = answer;
    forms.refresh('aws');
    await new Promise(setImmediate);
    return forms.of('a');
  };
  return { forms, changed, ask };
}

it('the form of an offer is what its backend told last, and a change of it is heard', async () => {
  const { ask, changed } = setUp();

  const seen = [await ask(async () => 'v1'), await ask(async () => 'v1'), await ask(async () => 'v2')];

  expect(seen).toEqual(['v1', 'v1', 'v2']);
  expect(changed).toEqual(['a']);
});

it('the form stays as it was while the cloud does not tell', async () => {
  const { ask, changed } = setUp();
  await ask(async () => 'v1');

  const seen = await ask(() => Promise.reject(new Fault('throttled', 'slow down')));

  expect([seen, changed]).toEqual(['v1', []]);
});

it('an offer that was closed while it was asked for has no form', async () => {
  const { forms, ask } = setUp();
  const { promise, resolve } = Promise.withResolvers<string>();
  await ask(() => promise);

  forms.forget('a');
  resolve('late');
  await promise;

  expect(forms.of('a')).toBeUndefined();
});
