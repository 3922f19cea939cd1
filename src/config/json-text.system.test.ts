import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { openJsonReader } from './json-text.ts';

const list = (length: number): Buffer => Buffer.from(JSON.stringify(Array.from({ length }, () => 'a,[\\"')));

it.each([
  ['a short text', 100],
  ['a long text', 200_000],
])('%s is read whole up to its limit of values, and refused beyond', async (_, length) => {
  const reader = openJsonReader(systemClock);

  expect(await reader.read(list(length), length + 1)).toHaveLength(length);
  await expect((async () => reader.read(list(length), length))()).rejects.toMatchObject({
    kind: 'invalid',
    message: `The body has more than ${length} values.`,
  });
});

it('long JSON is parsed beside the event loop, and its faults are reported', async () => {
  const reader = openJsonReader(systemClock);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);

  await expect((async () => reader.read(Buffer.from(`["${'a'.repeat(2 ** 24)}`), 10))()).rejects.toMatchObject({
    kind: 'invalid',
  });
  clearInterval(timer);

  expect(turns).toBeGreaterThan(5);
});

it.each([100, 400_000])(
  'nesting is bounded, in a body of %i bytes too: parsing it would take seconds',
  async (length) => {
    const reader = openJsonReader(systemClock);
    const nested = (depth: number) => Buffer.from(`"${'['.repeat(length)}",${'['.repeat(depth)}`);
    const refused = async (body: Buffer): Promise<string> => {
      try {
        return String(await reader.read(body, 10));
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };

    expect(await refused(nested(100))).toMatch('not JSON');
    expect(await refused(nested(101))).toBe('The body is nested deeper than 100 levels.');
  },
);

it('too many values are counted before anything is parsed, whatever follows them', () => {
  const reader = openJsonReader(systemClock);

  expect(() => reader.read(Buffer.from('["a,b",1,1'), 2)).toThrow('more than 2 values');
  expect(() => reader.read(Buffer.from('["a,b,c\\",,",1'), 2)).toThrow('not JSON');
});

it('a long body is given to the thread, not copied', async () => {
  const reader = openJsonReader(systemClock);
  const body = Buffer.from(`"${'é'.repeat(2 ** 20)}"`);

  const value = reader.read(body, 10);
  await Promise.resolve();

  expect(body.length).toBe(0);
  expect(await value).toBe('é'.repeat(2 ** 20));
});
