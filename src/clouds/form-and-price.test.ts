import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Backend } from '#core/provider.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openFormsAndPrices } from './form-and-price.ts';

function setUp() {
  const cloud: { answer: () => Promise<string> } = { answer: async () => 'v1' };
  const backend = { cloud: 'aws', form: () => cloud.answer() } as unknown as Backend;
  const changed: string[] = [];
  const forms = openFormsAndPrices({
    clock: new VirtualClock(),
    backends: () => [['a', backend]],
    ask: (_offer, _name, run) => run(backend, new AbortController().signal),
    changed: (offer) => void changed.push(offer),
    priceChanged: () => {},
    log: silentLog,
  });
  const ask = async (answer: () => Promise<string>): Promise<string | undefined> => {
    cloud.answer = answer;
    forms.refresh('aws');
    await new Promise(setImmediate);
    return forms.formOf('a');
  };
  return { forms, changed, ask };
}

it('the form of an offer is what its backend answered last, and a change of it is announced', async () => {
  const { ask, changed } = setUp();

  const seen = [await ask(async () => 'v1'), await ask(async () => 'v1'), await ask(async () => 'v2')];

  expect(seen).toEqual(['v1', 'v1', 'v2']);
  expect(changed).toEqual(['a']);
});

it('the form stays as it was while the cloud does not answer', async () => {
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

  expect(forms.formOf('a')).toBeUndefined();
});

it('the price of an offer is asked at most once an hour, stays while the cloud does not answer, and its changes are announced', async () => {
  const announced: (number | undefined)[] = [];
  const clock = new VirtualClock();
  const asked: number[] = [];
  const prices = [1.25, 1.25, 2.5];
  const pricePerHour = async (): Promise<number> => {
    asked.push(clock.monotonic() / HOUR_MS);
    const price = prices.shift();
    if (price === undefined) throw new Fault('unavailable', 'away');
    return price;
  };
  const backend = { cloud: 'aws', pricePerHour } as unknown as Backend;
  const resolved = openFormsAndPrices({
    clock,
    backends: () => [['a', backend]],
    ask: (_offer, _name, run) => run(backend, new AbortController().signal),
    changed: () => {},
    priceChanged: (offer) => void announced.push(resolved.priceOf(offer)),
    log: silentLog,
  });
  const seen: (number | undefined)[] = [resolved.priceOf('a')];

  for (let minute = 0; minute < 210; minute += 10) {
    resolved.refresh('aws');
    await clock.advance(10 * MINUTE_MS);
    seen.push(resolved.priceOf('a'));
  }

  expect(asked).toEqual([0, 1, 2, 3]);
  expect([...new Set(seen)]).toEqual([undefined, 1.25, 2.5]);
  expect(announced).toEqual([1.25, 2.5]);
});

it('asks for an offer that was opened since at the next refresh, whatever the others wait for', async () => {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const pricePerHour = async (): Promise<number> => 1;
  const backend = { cloud: 'aws', pricePerHour } as unknown as Backend;
  const open: [string, Backend][] = [['a', backend]];
  const resolved = openFormsAndPrices({
    clock,
    backends: () => open,
    ask(offer, _name, run) {
      asked.push(`${offer} at ${clock.monotonic() / MINUTE_MS} min`);
      return run(backend, new AbortController().signal);
    },
    changed: () => {},
    priceChanged: () => {},
    log: silentLog,
  });
  const refreshes = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      resolved.refresh('aws');
      await clock.advance(10 * MINUTE_MS);
    }
  };

  await refreshes(2);
  open.push(['b', backend]);
  resolved.opened('aws');
  await refreshes(7);

  expect(asked).toEqual(['a at 0 min', 'b at 20 min', 'a at 60 min', 'b at 80 min']);
});
